import type { JsonObject, RequestAnswer } from '../protocol/requests.js';

/**
 * One piece of what a person sees, as plain data: the same for the editor, the terminal and a replay. All text in it is
 * clean (no control characters) and bounded.
 */
export type ChatPart = TextPart | ToolPart | DiffPart | RequestPart | ResolutionPart | OpaquePart;

interface PartBase {
  /** The part's identity within its conversation; a part with a known id updates or continues the one before. */
  readonly id: string;
  readonly editor: EditorPart;
}

/** `text` is what is new since the last reading of this part: a reader appends it. */
export interface TextPart extends PartBase {
  readonly kind: 'markdown' | 'progress' | 'warning' | 'thinking' | 'notice' | 'output';
  readonly text: string;
}

/** One tool call, given whole at each change. */
export interface ToolPart extends PartBase {
  readonly kind: 'tool';
  readonly callId: string;
  readonly name: string;
  /** `abandoned`: the turn ended and the call's result never came. */
  readonly phase: 'started' | 'completed' | 'abandoned';
  readonly input?: string;
  readonly output?: string;
  readonly isError?: boolean;
  /** Of a call that a saved history tells of: that it is recorded does not prove that it was permitted, or ran. */
  readonly saved?: true;
}

export interface DiffPart extends PartBase {
  readonly kind: 'diff';
  readonly patch: string;
  /** The files that the patch names, as it names them, in its order. */
  readonly files: readonly string[];
}

export interface RequestPart extends PartBase {
  readonly kind: 'request';
  readonly requestId: number;
  readonly requestKind: 'approval' | 'elicitation' | 'other';
  readonly title: string;
  /** What the decision is about; absent where the runtime supplied nothing to look at. */
  readonly preview?: string;
  /** Exactly what may be answered here; empty where nothing may. */
  readonly answers: readonly AnswerChoice[];
  /** Why `answers` is empty: who answers, or that it is over. */
  readonly unanswerable?: string;
  /** Of an elicitation: the JSON Schema of the content that an `accept` carries. */
  readonly schema?: JsonObject;
}

export interface AnswerChoice {
  readonly label: string;
  readonly response: RequestAnswer;
}

export interface ResolutionPart extends PartBase {
  readonly kind: 'resolution';
  readonly requestId: number;
  readonly text: string;
}

/** Something that we have no form for: named and previewed, never dropped. */
export interface OpaquePart extends PartBase {
  readonly kind: 'opaque';
  readonly eventKind: string;
  readonly text: string;
}

/** The editor's part that shows a chat part best, what that needs, and what stands in where it is not granted. */
export interface EditorPart {
  readonly part: string;
  /** The API proposal that `part` needs; null for stable API. */
  readonly proposal: string | null;
  /** Stable API. */
  readonly fallback:
    'markdown' | 'progress' | 'blockquote' | 'fenced block' | 'progress and labelled markdown' | 'none';
}

const ADDITIONS = 'chatParticipantAdditions';

export const EDITOR_PARTS: Readonly<Record<ChatPart['kind'], EditorPart>> = {
  markdown: { part: 'markdown', proposal: null, fallback: 'markdown' },
  progress: { part: 'progress', proposal: null, fallback: 'progress' },
  warning: { part: 'ChatResponseWarningPart', proposal: ADDITIONS, fallback: 'blockquote' },
  thinking: { part: 'ChatResponseThinkingProgressPart', proposal: ADDITIONS, fallback: 'blockquote' },
  notice: { part: 'markdown', proposal: null, fallback: 'markdown' },
  output: { part: 'markdown', proposal: null, fallback: 'fenced block' },
  tool: { part: 'ChatToolInvocationPart', proposal: ADDITIONS, fallback: 'progress and labelled markdown' },
  diff: { part: 'ChatResponseCodeblockUriPart', proposal: ADDITIONS, fallback: 'fenced block' },
  request: { part: 'ChatResponseCommandButtonPart', proposal: null, fallback: 'none' },
  resolution: { part: 'markdown', proposal: null, fallback: 'markdown' },
  opaque: { part: 'markdown', proposal: null, fallback: 'fenced block' },
};
