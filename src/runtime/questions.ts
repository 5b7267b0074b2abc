import { InvalidArguments, stringField } from './arguments.js';
import type { Response } from './requests.js';
import { isObject, type Json, type JsonObject } from './wire.js';

/** The `ask_user` tool: one to four questions put to a person as one elicitation (§8.1). */
export interface Question {
  readonly question: string;
  readonly header: string;
  readonly multiSelect: boolean;
  readonly options: readonly { readonly label: string; readonly description?: string }[];
}

const MAX_QUESTIONS = 4;
const MAX_OPTIONS = 4;

export const parseQuestions = (args: Record<string, unknown>): Question[] => {
  const asked = args['questions'];
  if (!Array.isArray(asked)) throw new InvalidArguments('missing field `questions`');
  if (asked.length < 1 || asked.length > MAX_QUESTIONS) {
    throw new InvalidArguments(`ask between 1 and ${MAX_QUESTIONS} questions in one call (got ${asked.length})`);
  }
  return asked.map(parseQuestion);
};

const parseQuestion = (value: unknown): Question => {
  const record = isObject(value) ? value : {};
  const question = stringField(record, 'question');
  if (question.trim() === '') throw new InvalidArguments('every question needs non-empty text');
  const options = Array.isArray(record['options']) ? record['options'].map(parseOption) : [];
  if (options.length > MAX_OPTIONS) throw new InvalidArguments(`at most ${MAX_OPTIONS} options per question`);
  if (options.some(({ label }) => label.trim() === '')) {
    throw new InvalidArguments('every option needs a non-empty label');
  }
  return {
    question,
    header: typeof record['header'] === 'string' ? record['header'] : '',
    multiSelect: record['multiSelect'] === true || record['multi_select'] === true,
    options,
  };
};

const parseOption = (value: unknown): Question['options'][number] => {
  const record = isObject(value) ? value : {};
  const description = record['description'];
  return { label: stringField(record, 'label'), ...(typeof description === 'string' && { description }) };
};

export const elicitationFor = (questions: readonly Question[]): JsonObject => {
  const names = questions.map((_, index) => `q${index + 1}`);
  return {
    message: questions.map(promptFor).join('\n\n'),
    requested_schema: {
      type: 'object',
      properties: Object.fromEntries(questions.map((question, index) => [`q${index + 1}`, schemaFor(question)])),
      required: names,
    },
  };
};

const promptFor = ({ question, header, multiSelect, options }: Question): string => {
  const title = header === '' ? question : `[${header}] ${question}`;
  const lines = options.map(({ label, description }) => `\n  - ${label}${description ? ` — ${description}` : ''}`);
  return `${title}${lines.join('')}${multiSelect ? '\n  (multiple selections allowed)' : ''}`;
};

const schemaFor = ({ question, header, multiSelect, options }: Question): JsonObject => {
  const labels = options.map(({ label }) => label).join(' | ');
  return {
    title: header === '' ? question : header,
    description: labels === '' ? question : `${question} (options: ${labels}; free text is also accepted)`,
    'x-options': options,
    'x-multi-select': multiSelect,
    ...(multiSelect ? { type: 'array', items: { type: 'string' } } : { type: 'string' }),
  };
};

/** The text the model reads. Nobody there to answer counts as a dismissal. */
export const outcomeOf = (questions: readonly Question[], response: Response | undefined): string => {
  const action = response === undefined || response.kind === 'approval' ? 'cancel' : response.action;
  const assume = 'Proceed with your own best judgement and say what you assumed.';
  if (action === 'decline') return `The user declined to answer. ${assume}`;
  if (action === 'cancel') return `The user dismissed the question without answering. ${assume}`;
  const content: Json = response?.kind === 'elicitation' ? response.content : null;
  const answers = isObject(content) ? content : {};
  const lines = questions.map(({ question, header }, index) => {
    const answer = answers[`q${index + 1}`] ?? answers[header];
    return `${header === '' ? question : header}: ${answer === undefined ? '(no answer)' : rendered(answer)}`;
  });
  return `The user answered:\n${lines.join('\n')}\n\nraw: ${JSON.stringify(content ?? {})}`;
};

const rendered = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(rendered).join(', ');
  return JSON.stringify(value);
};
