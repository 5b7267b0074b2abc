import * as vscode from 'vscode';
import { messageOf } from '../protocol/messageOf.js';
import { fieldsOf, type Field } from '../selectors/elicitation.js';
import { contentOf } from '../selectors/elicitationContent.js';
import { escapeMarkdown } from '../selectors/markdown.js';
import type { RequestPart } from '../selectors/parts.js';
import { selectWaitingRequests, type WaitingRequest } from '../selectors/waitingRequests.js';
import type { ConnectionId } from '../store/connections.js';
import { presetOf } from './formPage.js';
import type { Front } from './front.js';
import { proposed, type ProposedStream, type Question } from './proposed.js';
import { answer } from './respond.js';
import { shownText } from './shownText.js';

type Given = Readonly<Record<string, string | readonly string[]>>;

/** More questions than this are a form, one after the other. */
const QUESTIONS_LIMIT = 8;

/**
 * Asks what a request asks by the editor's own questions above the composer, beside its buttons. They serve the response of
 * a prompt only: an editor drops what is answered under the response of a restored session (ADR 11). What did not get
 * through is asked again, with what was answered.
 */
export async function askByCarousel(
  front: Front,
  connection: ConnectionId,
  part: RequestPart,
  stream: ProposedStream,
): Promise<void> {
  if (part.unanswerable !== undefined) return;
  const waiting = selectWaitingRequests(front.app.getState(), connection).find(
    ({ part: { requestId } }) => requestId === part.requestId,
  );
  const choice = waiting?.part.answers.find(
    ({ response }) => response.kind === 'elicitation' && response.action === 'accept' && response.content === null,
  );
  const fields = part.schema ? fieldsOf(part.schema) : [];
  if (!waiting || !choice || !fitsCarousel(fields)) return;
  let given: Given = {};
  for (;;) {
    const answers = await shown(front, stream, fields, given);
    // The response is over, or the person left it: the request goes on waiting under its buttons.
    if (!answers) return;
    given = givenIn(fields, answers);
    const filled = contentOf(fields, given);
    if ('problem' in filled) void vscode.window.showErrorMessage(shownText(filled.problem));
    else if ((await answerWith(front, waiting, choice, filled.content)) !== 'failed') return;
  }
}

type Choice = WaitingRequest['part']['answers'][number];

function answerWith(front: Front, request: WaitingRequest, choice: Choice, content: object) {
  return answer(front, request, { ...choice, response: { ...choice.response, content } as Choice['response'] });
}

async function shown({ log }: Front, stream: ProposedStream, fields: readonly Field[], given: Given) {
  try {
    // A question that may be skipped is skipped by the editor with the next prompt that is sent.
    return await stream.questionCarousel(
      fields.map((field) => questionOf(field, given[field.name])),
      false,
    );
  } catch (error) {
    log.warn(`The editor's own questions could not be shown: ${messageOf(error)}`);
    return undefined;
  }
}

/** What the questions can't carry is asked by the form. */
function fitsCarousel(fields: readonly Field[]): boolean {
  const canAsk = ({ multi, options, required }: Field) => required && (!multi || options.length > 0);
  return fields.length > 0 && fields.length <= QUESTIONS_LIMIT && fields.every(canAsk);
}

function questionOf(field: Field, given: string | readonly string[] | undefined): Question {
  const { Text, SingleSelect, MultiSelect } = proposed.ChatQuestionType;
  const { options, freeText, multi } = field;
  const { labels, rest } = presetOf(field, given);
  const preset = [...labels, ...rest];
  const type = options.length === 0 ? Text : multi ? MultiSelect : SingleSelect;
  return new proposed.ChatQuestion(field.name, type, shownText(field.title), {
    message: new vscode.MarkdownString(escapeMarkdown(field.description ?? field.title)),
    ...(options.length === 0 ? {} : { options: options.map(optionOf), allowFreeformInput: freeText }),
    ...(preset[0] === undefined ? {} : { defaultValue: multi ? preset : preset[0] }),
  });
}

function optionOf({ label, description }: Field['options'][number]) {
  // The editor shows what follows the dash as a description.
  return { id: label, label: description === undefined ? label : `${label} - ${shownText(description)}`, value: label };
}

/** What was answered, in the words that `contentOf` takes: labels of options, or free text. */
function givenIn(fields: readonly Field[], answers: Readonly<Record<string, unknown>>): Given {
  return Object.fromEntries(
    fields.flatMap(({ name, multi }) => {
      const texts = textsOf(answers[name]);
      if (texts.length === 0) return [];
      return [[name, multi ? texts : (texts.at(-1) ?? '')] as const];
    }),
  );
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.filter((each) => typeof each === 'string');
  if (typeof value !== 'object' || value === null) return [];
  const { selectedValue, selectedValues, freeformValue } = value as Readonly<Record<string, unknown>>;
  return [selectedValue, selectedValues, freeformValue].flatMap(textsOf).filter((text) => text !== '');
}
