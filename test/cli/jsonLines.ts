import * as v from 'valibot';

const text = v.string();
const whole = v.pipe(v.number(), v.safeInteger());

const part = v.variant('kind', [
  v.strictObject({ kind: v.picklist(['markdown', 'progress', 'warning', 'thinking', 'notice', 'output']), text }),
  v.strictObject({
    kind: v.literal('tool'),
    callId: text,
    name: text,
    phase: v.picklist(['started', 'completed', 'abandoned']),
    input: v.exactOptional(text),
    output: v.exactOptional(text),
    isError: v.exactOptional(v.boolean()),
  }),
  v.strictObject({ kind: v.literal('diff'), patch: text, files: v.array(text) }),
  v.strictObject({
    kind: v.literal('request'),
    requestId: whole,
    requestKind: v.picklist(['approval', 'elicitation', 'other']),
    title: text,
    preview: v.exactOptional(text),
    answers: v.array(v.strictObject({ label: text, response: v.looseObject({ kind: text, request_id: whole }) })),
  }),
  v.strictObject({ kind: v.literal('resolution'), requestId: whole, text }),
  v.strictObject({ kind: v.literal('opaque'), eventKind: text, text }),
]);

const line = v.variant('type', [
  v.strictObject({
    type: v.literal('turn'),
    turn: v.strictObject({ prompt: v.nullable(text), marker: v.boolean(), parts: v.array(part) }),
  }),
  v.strictObject({ type: v.literal('part'), part }),
  v.strictObject({ type: v.literal('answered'), requestId: whole, label: text }),
  v.strictObject({
    type: v.literal('settled'),
    outcome: v.picklist(['succeeded', 'failed', 'interrupted']),
    message: v.exactOptional(v.pipe(text, v.nonEmpty())),
  }),
]);

const replayLine = v.variant('type', [
  v.strictObject({ type: v.literal('part'), connection: v.exactOptional(text), part }),
  v.strictObject({ type: v.literal('state'), state: v.looseObject({}) }),
  v.strictObject({ type: v.literal('action'), n: whole, at: v.number(), action: v.looseObject({ type: text }) }),
  v.strictObject({ type: v.literal('damage'), line: whole, reason: v.pipe(text, v.nonEmpty()) }),
  v.strictObject({
    type: v.literal('end'),
    n: whole,
    hash: v.pipe(text, v.regex(/^[0-9a-f]{64}$/)),
    matches: v.nullable(v.boolean()),
  }),
]);

export type Part = v.InferOutput<typeof part>;
export type ChatLine = v.InferOutput<typeof line>;
export type ReplayLine = v.InferOutput<typeof replayLine>;

/** Every line of `supercode-chat --json`, to the letter: nothing else stands among them, and no key more or less. */
export function chatLines(stdout: string): readonly ChatLine[] {
  return rows(stdout).map((each) => v.parse(line, each));
}

export function replayLines(stdout: string): readonly ReplayLine[] {
  return rows(stdout).map((each) => v.parse(replayLine, each));
}

function rows(stdout: string): readonly unknown[] {
  if (stdout === '') return [];
  if (!stdout.endsWith('\n')) throw new Error(`The last line is not ended: ${stdout.slice(-200)}`);
  return stdout
    .slice(0, -1)
    .split('\n')
    .map((each): unknown => JSON.parse(each));
}

/** The parts among the lines, texts that go on joined. */
export function partsOf(lines: readonly (ChatLine | ReplayLine)[]): readonly Part[] {
  const parts: Part[] = [];
  for (const each of lines) {
    if (each.type !== 'part') continue;
    const last = parts.at(-1);
    if (isStreamed(each.part) && last && isStreamed(last) && last.kind === each.part.kind) {
      parts[parts.length - 1] = { ...last, text: last.text + each.part.text };
    } else {
      parts.push(each.part);
    }
  }
  return parts;
}

type Streamed = Extract<Part, { text: string }> & { kind: 'markdown' | 'thinking' };

function isStreamed(each: Part): each is Streamed {
  return each.kind === 'markdown' || each.kind === 'thinking';
}

export function textOf(lines: readonly (ChatLine | ReplayLine)[]): string {
  return partsOf(lines)
    .map((each) => (each.kind === 'markdown' ? each.text : ''))
    .join('');
}
