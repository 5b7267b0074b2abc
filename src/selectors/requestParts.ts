import type { Descriptor } from '../protocol/frontend-v2.js';
import type { Resolution, RuntimeRequest } from '../protocol/requests.js';
import type { RequestStatus, Requests } from '../store/requests.js';
import type { WithdrawalReason } from '../store/transcript.js';
import { answersOf } from './answers.js';
import { cutText, PART_LIMIT, title } from './bounds.js';
import { EDITOR_PARTS, type RequestPart, type ResolutionPart } from './parts.js';
import { previewOf, titleOf } from './requestPreview.js';

/** What is known of one conversation's requests at the time of drawing. */
export interface RequestView {
  readonly requests: Requests;
  /** Of the runtime's present process; requests of an earlier one are over. */
  readonly epoch: number;
  readonly descriptor: Descriptor | undefined;
}

export function requestPart(id: string, request: RuntimeRequest, epoch: number, view: RequestView): RequestPart {
  const { body } = request;
  const status = epoch === view.epoch ? view.requests[request.id]?.status : undefined;
  const unanswerable = whyUnanswerable(status, view.descriptor);
  const preview = previewOf(body);
  const answers = unanswerable === undefined ? answersOf(request.id, body) : [];
  const nothingOffered = unanswerable === undefined && answers.length === 0;
  return {
    kind: 'request',
    id,
    requestId: request.id,
    requestKind: body.kind,
    title: titleOf(body),
    ...(preview === undefined ? {} : { preview }),
    answers,
    ...(unanswerable === undefined ? {} : { unanswerable }),
    ...(nothingOffered ? { unanswerable: 'The runtime offers no answer to this request.' } : {}),
    ...(body.kind === 'elicitation' && body.schema ? { schema: body.schema } : {}),
    editor: EDITOR_PARTS.request,
  };
}

export function resolutionPart(
  id: string,
  requestId: number,
  resolution: Resolution,
  epoch: number,
  view: RequestView,
): ResolutionPart {
  const known = epoch === view.epoch ? view.requests[requestId] : undefined;
  const subject = known?.request ? titleOf(known.request.body) : undefined;
  return resolved(id, requestId, wording(resolution, known?.status, subject));
}

export function withdrawalPart(id: string, requestId: number, reason: WithdrawalReason): ResolutionPart {
  return resolved(id, requestId, WITHDRAWN[reason]);
}

const WITHDRAWN: Readonly<Record<WithdrawalReason, string>> = {
  turnEnded: 'The turn ended before this request was answered.',
  notHeld: 'The runtime no longer waits for this answer: it was answered elsewhere or withdrawn.',
  restarted: 'The runtime was restarted before this request was answered.',
};

function whyUnanswerable(status: RequestStatus | undefined, descriptor: Descriptor | undefined): string | undefined {
  switch (status?.phase) {
    case undefined:
      return 'This request belongs to an earlier process of the runtime.';
    case 'answered':
      return 'Already answered.';
    case 'answering':
      return 'The answer is on its way.';
    case 'withdrawn':
      return WITHDRAWN[status.reason];
    case 'pending':
      if (descriptor?.actions.respond === false) {
        const harness = descriptor.sourceHarness;
        return harness === null
          ? 'This attachment may not answer requests; another client of the runtime does.'
          : `Answer it in ${title(harness)}: its requests can't be answered from here.`;
      }
      return undefined;
  }
}

function wording(resolution: Resolution, status: RequestStatus | undefined, subject: string | undefined): string {
  const verdict = verdictOf(resolution);
  if (status?.phase !== 'answered') return `${verdict}.`;
  switch (status.by) {
    case 'policy':
      return cutText(
        `auto-${verdict === 'Allowed' || verdict === 'Allowed for this session' ? 'approved' : verdict.toLowerCase()}: ${subject ?? 'a request'}`,
        PART_LIMIT,
      );
    case 'stop':
      return `${verdict}, because the turn was stopped.`;
    case 'elsewhere':
      return `${verdict} elsewhere.`;
    case 'person':
      return `${verdict}.`;
  }
}

const VERDICTS: Readonly<Record<string, string>> = {
  allow: 'Allowed',
  allow_for_session: 'Allowed for this session',
  deny: 'Denied',
  accept: 'Answered',
  decline: 'Declined',
  cancel: 'Cancelled',
};

function verdictOf(resolution: Resolution): string {
  switch (resolution.kind) {
    case 'decision':
      return VERDICTS[resolution.decision] ?? `Answered (${title(resolution.decision)})`;
    case 'action':
      return VERDICTS[resolution.action] ?? `Answered (${title(resolution.action)})`;
    case 'unnamed':
      return 'Answered';
  }
}

function resolved(id: string, requestId: number, text: string): ResolutionPart {
  return { kind: 'resolution', id, requestId, text, editor: EDITOR_PARTS.resolution };
}
