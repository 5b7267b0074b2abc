import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { eventSchemas, type EventKind, type RuntimeEvent } from '../../src/protocol/frontend-v2-events.js';
import { PART_LIMIT, TITLE_LIMIT } from '../../src/selectors/bounds.js';
import { fallbackOf, type FallbackPiece } from '../../src/selectors/fallback.js';
import { selectNewParts, startCursor } from '../../src/selectors/newParts.js';
import type { ChatPart, EditorPart } from '../../src/selectors/parts.js';
import { malformedSeen, replayRefused } from '../../src/store/connections.js';
import { answerRequested } from '../../src/store/requests.js';
import { interruptAcknowledged, interruptRequested } from '../../src/store/turn.js';
import { requestGone, turnEnded } from '../../src/store/verdicts.js';
import type { RootState } from '../../src/store/state.js';
import { event } from '../doubles/runtime.js';
import { attach, BUSY, fold, heard, HOSTED, IDLE, receive } from '../store/conversation.js';

// The editor's parts as the reference names them: what is richest, what it needs, what stands in without it.
const ADDITIONS = 'chatParticipantAdditions';
const MARKDOWN: EditorPart = { part: 'markdown', proposal: null, fallback: 'markdown' };
const FENCED: EditorPart = { part: 'markdown', proposal: null, fallback: 'fenced block' };
const PROGRESS: EditorPart = { part: 'progress', proposal: null, fallback: 'progress' };
const WARNING: EditorPart = { part: 'ChatResponseWarningPart', proposal: ADDITIONS, fallback: 'blockquote' };
const THINKING: EditorPart = { part: 'ChatResponseThinkingProgressPart', proposal: ADDITIONS, fallback: 'blockquote' };
const TOOL: EditorPart = {
  part: 'ChatToolInvocationPart',
  proposal: ADDITIONS,
  fallback: 'progress and labelled markdown',
};
const DIFF: EditorPart = { part: 'ChatResponseCodeblockUriPart', proposal: ADDITIONS, fallback: 'fenced block' };
const BUTTONS: EditorPart = { part: 'ChatResponseCommandButtonPart', proposal: null, fallback: 'none' };

type Wire = readonly [kind: string, payload?: object];
/** Everything of a part but its id. */
type Drawn = ChatPart extends infer P ? (P extends ChatPart ? Omit<P, 'id'> : never) : never;

interface Row {
  readonly row: string;
  readonly wire: readonly Wire[];
  readonly parts: readonly Drawn[];
  /** On stable API; for rows of whose fallback the reference speaks. */
  readonly fallback?: readonly FallbackPiece[];
}

const PATCH = 'diff --git a/x.ts b/x.ts\n--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-a\n+b\n';
const block = (text: string): FallbackPiece => ({ kind: 'markdown', text: `\n\n${text}\n\n` });
const started = (id: string, name: string | null, args = '{"command":"ls"}'): Wire => [
  'tool_call_started',
  { id, name, arguments: args },
];
const completed = (id: string, name: string | null, output: string, is_error = false): Wire => [
  'tool_call_completed',
  { id, name, output, is_error },
];
const tool = (callId: string, phase: 'started' | 'completed' | 'abandoned', rest: object = {}): Drawn => ({
  kind: 'tool',
  callId,
  name: 'bash',
  phase,
  input: '{"command":"ls"}',
  ...rest,
  editor: TOOL,
});
const APPROVAL = { tool: 'bash', subject: 'ls', raw_args: { command: 'ls' } };
const request = (kind: string, payload: object): Wire => ['request', { request: { id: 7, kind, payload } }];
const choice = (label: string, decision: string) => ({
  label,
  response: { kind: 'approval', request_id: 7, decision } as const,
});
const answered = (label: string, kind: 'elicitation' | 'other', action: 'accept' | 'decline' | 'cancel') => ({
  label,
  response: { kind, request_id: 7, action, content: null } as const,
});
const turnOf = (...wire: readonly Wire[]): readonly Wire[] => [
  ['user_message', { text: 'hello' }],
  ['turn_started'],
  ...wire,
];
const note = (kind: 'notice' | 'warning' | 'progress' | 'output', text: string): Drawn => ({
  kind,
  text,
  editor: { notice: MARKDOWN, warning: WARNING, progress: PROGRESS, output: FENCED }[kind],
});

/**
 * The reference's table of event kinds, a row each, and the kinds that the contract has beyond it. The keys are our own
 * kinds: one without a row does not compile.
 */
const MAPPING: Readonly<Record<EventKind, readonly Row[]>> = {
  text_delta: [
    {
      row: 'text_delta: markdown, streamed',
      wire: [
        ['text_delta', { text: 'Hello **' }],
        ['text_delta', { text: 'you**' }],
      ],
      parts: [{ kind: 'markdown', text: 'Hello **you**', editor: MARKDOWN }],
      fallback: [{ kind: 'markdown', text: 'Hello **you**' }],
    },
  ],
  user_message: [
    {
      row: 'user_message: dropped live, the editor shows it already',
      wire: [['user_message', { text: 'hello' }]],
      parts: [],
    },
  ],
  turn_started: [{ row: 'turn_started: nothing', wire: turnOf(), parts: [] }],
  turn_completed: [{ row: 'turn_completed: nothing', wire: turnOf(['turn_completed']), parts: [] }],
  turn_succeeded: [{ row: 'turn_succeeded: nothing', wire: turnOf(['turn_succeeded', { reply: 'Hi' }]), parts: [] }],
  turn_interrupted: [
    {
      row: 'turn_interrupted: an italic notice',
      wire: turnOf(['turn_interrupted']),
      parts: [note('notice', 'Interrupted.')],
      fallback: [block('*Interrupted\\.*')],
    },
  ],
  turn_failed: [
    {
      row: 'turn_failed: a warning → blockquote',
      wire: turnOf(['turn_failed', { message: 'HTTP 500: overloaded' }]),
      parts: [note('warning', 'HTTP 500: overloaded')],
      fallback: [block('> ⚠ **Warning:** HTTP 500\\: overloaded')],
    },
    {
      row: 'turn_failed without a reason: a warning all the same',
      wire: turnOf(['turn_failed']),
      parts: [note('warning', 'The turn failed.')],
    },
  ],
  tool_call_started: [
    {
      row: 'tool_call_started: a tool invocation → a progress line',
      wire: [started('a', 'bash')],
      parts: [tool('a', 'started')],
      fallback: [{ kind: 'progress', text: 'Running bash\\: \\{\\"command\\"\\:\\"ls\\"\\}' }],
    },
    {
      row: 'tool_call_started without a name or arguments: a tool called tool',
      wire: [started('a', null, '')],
      parts: [{ kind: 'tool', callId: 'a', name: 'tool', phase: 'started', editor: TOOL }],
    },
  ],
  tool_call_completed: [
    {
      row: 'tool_call_completed: the same invocation with its result → a labelled result',
      wire: [started('a', 'bash'), completed('a', 'bash', 'exit code: 0')],
      parts: [tool('a', 'completed', { output: 'exit code: 0', isError: false })],
      fallback: [
        block('**Tool** `bash` finished\n\n```\n{"command":"ls"}\n```\n\n**Result**\n\n```\nexit code: 0\n```'),
      ],
    },
    {
      row: 'tool_call_completed without a name (Claude Code): the started name',
      wire: [started('a', 'bash'), completed('a', null, '')],
      parts: [tool('a', 'completed', { output: '', isError: false })],
    },
    {
      row: 'tool_call_completed with an error: a failed tool',
      wire: [started('a', 'bash'), completed('a', null, 'Error: tool bash was not approved', true)],
      parts: [tool('a', 'completed', { output: 'Error: tool bash was not approved', isError: true })],
      fallback: [
        block(
          '**Tool** `bash` failed\n\n```\n{"command":"ls"}\n```\n\n**Result**\n\n```\nError: tool bash was not approved\n```',
        ),
      ],
    },
    {
      row: 'tool_call_completed that nothing started: a tool with what is known',
      wire: [completed('a', null, 'out')],
      parts: [
        { kind: 'tool', callId: 'a', name: 'tool', phase: 'completed', output: 'out', isError: false, editor: TOOL },
      ],
    },
    {
      row: 'tool_call_completed that never comes: the turn’s end says so',
      wire: turnOf(started('a', 'bash'), ['turn_interrupted']),
      parts: [tool('a', 'abandoned'), note('notice', 'Interrupted.')],
    },
  ],
  diff_updated: [
    {
      row: 'diff_updated: a code block of a file, with the files that it names → the fenced block alone',
      wire: [['diff_updated', { diff: PATCH }]],
      parts: [{ kind: 'diff', patch: PATCH, files: ['x.ts'], editor: DIFF }],
      fallback: [block(`**Changes** in \`x.ts\`\n\n\`\`\`diff\n${PATCH}\`\`\``)],
    },
    {
      row: 'Codex’s turn/diff/updated, a native_event: the same',
      wire: [['native_event', { kind: 'turn/diff/updated', raw: { params: { diff: PATCH } } }]],
      parts: [{ kind: 'diff', patch: PATCH, files: ['x.ts'], editor: DIFF }],
    },
    {
      row: 'diff_updated without a diff: nothing to name',
      wire: [['diff_update', { diff: '' }]],
      parts: [{ kind: 'diff', patch: '', files: [], editor: DIFF }],
    },
  ],
  request: [
    {
      row: 'request for approval: a titled block and a button for each answer',
      wire: turnOf(request('approval', APPROVAL)),
      parts: [
        {
          kind: 'request',
          requestId: 7,
          requestKind: 'approval',
          title: 'bash: ls',
          preview: 'ls',
          answers: [choice('Allow', 'allow'), choice('Allow for session', 'allow_for_session'), choice('Deny', 'deny')],
          editor: BUTTONS,
        },
      ],
      fallback: [block('**bash\\: ls**\n\n```\nls\n```')],
    },
    {
      row: 'request for approval of a hosted harness: exactly the decisions that it carries',
      wire: turnOf(request('approval', { tool: 'Bash', arguments: { command: 'ls' }, decisions: ['allow', 'deny'] })),
      parts: [
        {
          kind: 'request',
          requestId: 7,
          requestKind: 'approval',
          title: 'Bash: ls',
          preview: 'ls',
          answers: [choice('Allow', 'allow'), choice('Deny', 'deny')],
          editor: BUTTONS,
        },
      ],
    },
    {
      row: 'request that asks a question with a form: an answer that asks first',
      wire: turnOf(
        request('elicitation', {
          message: 'Which?',
          requested_schema: { type: 'object', properties: { q1: { type: 'string', title: 'Name' } }, required: ['q1'] },
        }),
      ),
      parts: [
        {
          kind: 'request',
          requestId: 7,
          requestKind: 'elicitation',
          title: 'Which?',
          preview: 'Which?\n\nName',
          answers: [
            answered('Answer…', 'elicitation', 'accept'),
            answered('Decline', 'elicitation', 'decline'),
            answered('Cancel', 'elicitation', 'cancel'),
          ],
          schema: { type: 'object', properties: { q1: { type: 'string', title: 'Name' } }, required: ['q1'] },
          editor: BUTTONS,
        },
      ],
    },
    {
      row: 'request of another kind: what there is, and the answers that any takes',
      wire: turnOf(request('other', { method: 'roots/list' })),
      parts: [
        {
          kind: 'request',
          requestId: 7,
          requestKind: 'other',
          title: 'The runtime asks',
          preview: '{"method":"roots/list"}',
          answers: [
            answered('Accept', 'other', 'accept'),
            answered('Decline', 'other', 'decline'),
            answered('Cancel', 'other', 'cancel'),
          ],
          editor: BUTTONS,
        },
      ],
    },
    {
      row: 'request that offers nothing: no button, and a reason',
      wire: turnOf(request('approval', { ...APPROVAL, decisions: [] })),
      parts: [
        {
          kind: 'request',
          requestId: 7,
          requestKind: 'approval',
          title: 'bash: ls',
          preview: 'ls',
          answers: [],
          unanswerable: 'The runtime offers no answer to this request.',
          editor: BUTTONS,
        },
      ],
    },
    {
      row: 'request without a preview: said so',
      wire: turnOf(request('approval', {})),
      parts: [
        {
          kind: 'request',
          requestId: 7,
          requestKind: 'approval',
          title: 'tool',
          answers: [choice('Allow', 'allow'), choice('Allow for session', 'allow_for_session'), choice('Deny', 'deny')],
          editor: BUTTONS,
        },
      ],
      fallback: [block('**tool**\n\n*The runtime supplied no preview\\.*')],
    },
  ],
  request_resolved: [
    {
      row: 'request_resolved: the buttons are inert, and the resolution stands beneath',
      wire: turnOf(request('approval', APPROVAL), [
        'request_resolved',
        { request_id: 7, response: { kind: 'approval', request_id: 7, decision: 'allow' } },
      ]),
      parts: [
        {
          kind: 'request',
          requestId: 7,
          requestKind: 'approval',
          title: 'bash: ls',
          preview: 'ls',
          answers: [],
          unanswerable: 'Already answered.',
          editor: BUTTONS,
        },
        { kind: 'resolution', requestId: 7, text: 'Allowed elsewhere.', editor: MARKDOWN },
      ],
      fallback: [block('**bash\\: ls**\n\n```\nls\n```\n\n*Already answered\\.*'), block('*Allowed elsewhere\\.*')],
    },
  ],
  cache_warning: [
    {
      row: 'cache_warning: a warning → blockquote',
      wire: [['cache_warning', { message: 'The cache was lost.' }]],
      parts: [note('warning', 'The cache was lost.')],
      fallback: [block('> ⚠ **Warning:** The cache was lost\\.')],
    },
  ],
  usage: [
    {
      row: 'usage: a progress line',
      wire: [['usage', { prompt_tokens: 12_345, completion_tokens: 67, total_tokens: 12_412, cached_tokens: 12_000 }]],
      parts: [note('progress', '12,345 tokens in (12,000 cached), 67 out')],
      fallback: [{ kind: 'progress', text: '12\\,345 tokens in \\(12\\,000 cached\\)\\, 67 out' }],
    },
    {
      row: 'usage without a cache: a progress line',
      wire: [['usage', { prompt_tokens: 1, completion_tokens: 2, cached_tokens: null }]],
      parts: [note('progress', '1 tokens in, 2 out')],
    },
  ],
  background_output: [
    {
      row: 'background_output: a fenced block',
      wire: [['background_output', { job_id: 'j', chunk: 'built\n', truncated: false }]],
      parts: [note('output', 'built\n')],
      fallback: [block('```\nbuilt\n```')],
    },
    {
      row: 'background_output that the runtime stopped retaining: a fenced block that says so',
      wire: [['background_output', { job_id: 'j', chunk: 'built', truncated: true }]],
      parts: [note('output', 'built\n… (the runtime kept no more of this output)')],
      fallback: [block('```\nbuilt\n… (the runtime kept no more of this output)\n```')],
    },
  ],
  scheduled_prompt: [
    {
      row: 'scheduled_prompt_started: a progress line',
      wire: [['scheduled_prompt_started', { prompt: 'tidy up' }]],
      parts: [note('progress', 'Scheduled prompt started: tidy up')],
      fallback: [{ kind: 'progress', text: 'Scheduled prompt started\\: tidy up' }],
    },
    {
      row: 'scheduled_prompt_deferred: a progress line',
      wire: [['scheduled_prompt_deferred', { message: 'busy' }]],
      parts: [note('progress', 'Scheduled prompt deferred: busy')],
    },
    {
      row: 'scheduled_prompt_completed: a progress line',
      wire: [['scheduled_prompt_completed']],
      parts: [note('progress', 'Scheduled prompt completed.')],
    },
  ],
  trouble: [
    {
      row: 'scheduler_error: a warning → blockquote',
      wire: [['scheduler_error', { message: 'late' }]],
      parts: [note('warning', 'The scheduler reported an error: late')],
      fallback: [block('> ⚠ **Warning:** The scheduler reported an error\\: late')],
    },
    {
      row: 'stream_error: a warning',
      wire: [['stream_error', { message: 'm' }]],
      parts: [note('warning', 'The harness reported an error in its stream: m')],
    },
    {
      row: 'transport_error: a warning',
      wire: [['transport_error', { message: 'm' }]],
      parts: [note('warning', 'The connection to the harness failed: m')],
    },
    {
      row: 'watch_error: a warning',
      wire: [['watch_error']],
      parts: [note('warning', 'Watching the session failed.')],
    },
    {
      row: 'runtime_disconnected: a warning',
      wire: [['runtime_disconnected', { message: 'exited' }]],
      parts: [note('warning', 'The runtime disconnected: exited')],
    },
  ],
  reasoning: [
    {
      row: 'reasoning: thinking progress → blockquote',
      wire: [
        ['reasoning', { text: 'Let me' }],
        ['reasoning', { text: ' see.' }],
      ],
      parts: [{ kind: 'thinking', text: 'Let me see.', editor: THINKING }],
      fallback: [block('> Let me see\\.')],
    },
    {
      row: 'thinking: the same',
      wire: [['thinking', { text: 'Hm.' }]],
      parts: [{ kind: 'thinking', text: 'Hm.', editor: THINKING }],
    },
  ],
  provider_retry: [
    {
      row: 'provider_retry (contract): a progress line, its attempts counted from 1',
      wire: [['provider_retry', { attempt: 0, delay_ms: 1500, reason: 'HTTP 503' }]],
      parts: [note('progress', 'The model provider was asked again (attempt 1, after 1.5 s): HTTP 503')],
    },
  ],
  model_changed: [
    {
      row: 'model_changed (contract): a notice',
      wire: [['model_changed', { from: 'a', to: 'b', reason: 'asked' }]],
      parts: [note('notice', 'Model changed from a to b: asked')],
    },
    {
      row: 'model_changed (contract) from nothing, for no reason: a notice',
      wire: [['model_changed', { from: '', to: 'b', reason: null }]],
      parts: [note('notice', 'Model changed to b.')],
    },
  ],
  turn_aborted: [
    {
      row: 'turn_aborted (contract): a notice',
      wire: [['turn_aborted', { source: 'ctrl-c' }]],
      parts: [note('notice', 'Aborted (ctrl-c).')],
    },
    {
      row: 'turn_aborted (contract) by nobody named: a notice',
      wire: [['turn_aborted']],
      parts: [note('notice', 'Aborted.')],
    },
  ],
  opaque: [
    {
      row: 'anything else: one bounded cell that names the kind and shows the payload',
      wire: [['a_later_kind', { a: [1] }]],
      parts: [{ kind: 'opaque', eventKind: 'a_later_kind', text: '{"type":"a_later_kind","a":[1]}', editor: FENCED }],
      fallback: [block('#### a\\_later\\_kind\n\n```\n{"type":"a_later_kind","a":[1]}\n```')],
    },
    {
      row: 'native_event (contract): a cell that names the harness’s own kind',
      wire: [['native_event', { kind: 'plan/updated', raw: { steps: 2 } }]],
      parts: [{ kind: 'opaque', eventKind: 'plan/updated', text: '{"steps":2}', editor: FENCED }],
    },
    {
      row: 'a known kind with a payload that does not fit: a cell',
      wire: [['diff_updated', { diff: 1 }]],
      parts: [{ kind: 'opaque', eventKind: 'diff_updated', text: '{"type":"diff_updated","diff":1}', editor: FENCED }],
    },
  ],
};

const numbered = (wire: readonly Wire[], from = 1): readonly RuntimeEvent[] =>
  wire.map(([kind, payload], at) => event(from + at, kind, payload));
const partsOf = (state: RootState) => selectNewParts(state, 'c', startCursor(state, 'c')).parts;
const drawn = (...wire: readonly Wire[]): readonly ChatPart[] => partsOf(heard(numbered(wire), { descriptor: BUSY }));
const withoutIds = (parts: readonly ChatPart[]) => parts.map(({ id: _, ...part }) => part);
const rows = Object.values(MAPPING).flat();

describe('the mapping', () => {
  it.each(rows)('$row', ({ wire, parts, fallback }) => {
    const actual = drawn(...wire);
    expect(withoutIds(actual)).toEqual(parts);
    if (fallback) expect(actual.flatMap(fallbackOf)).toEqual(fallback);
  });

  it('has a row for each kind that the wire has', () => {
    const wired = new Set(rows.flatMap(({ wire }) => wire.map(([kind]) => kind)));
    expect([...Object.keys(eventSchemas), 'native_event'].filter((kind) => !wired.has(kind))).toEqual([]);
  });

  it('gives each entry an id of its own, the same at each reading', () => {
    const state = heard(numbered(rows.flatMap(({ wire }) => wire)), { descriptor: BUSY });
    const parts = partsOf(state);
    expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length);
    expect(partsOf(state)).toEqual(parts);
    expect(parts.length).toBeGreaterThan(30);
  });

  it('draws the parts of a conversation in their order', () => {
    const parts = drawn(
      ['reasoning', { text: 'Hm.' }],
      ['text_delta', { text: 'I look.' }],
      started('a', 'bash'),
      completed('a', null, 'ok'),
      ['text_delta', { text: 'Done.' }],
    );
    expect(parts.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      'thinking 0.0.0',
      'markdown 0.1.0',
      'tool 0.2',
      'markdown 0.3.0',
    ]);
  });
});

describe('tools that run side by side', () => {
  it('are one part each, updated in place as they end, in whatever order', () => {
    let state = heard(numbered([started('a', 'bash'), started('b', 'bash'), started('c', 'bash')]));
    const first = selectNewParts(state, 'c', startCursor(state, 'c'));
    const ids = first.parts.map(({ id }) => id);
    expect(withoutIds(first.parts)).toEqual([tool('a', 'started'), tool('b', 'started'), tool('c', 'started')]);
    state = fold(receive(numbered([completed('c', null, 'C'), completed('a', null, 'A')], 4)), state);
    const second = selectNewParts(state, 'c', first.cursor);
    expect(withoutIds(second.parts)).toEqual([
      tool('a', 'completed', { output: 'A', isError: false }),
      tool('c', 'completed', { output: 'C', isError: false }),
    ]);
    expect(second.parts.map(({ id }) => id)).toEqual([ids[0], ids[2]]);
    state = fold(receive(numbered([completed('b', null, 'B')], 6)), state);
    const third = selectNewParts(state, 'c', second.cursor);
    expect(third.parts).toEqual([{ ...tool('b', 'completed', { output: 'B', isError: false }), id: ids[1] }]);
    expect(selectNewParts(state, 'c', third.cursor).parts).toEqual([]);
  });
});

describe('a request', () => {
  const waiting = heard(numbered(turnOf(request('approval', APPROVAL))), { descriptor: BUSY });
  const answer = (by: 'person' | 'policy' | 'stop', decision = 'allow') =>
    answerRequested({
      connection: 'c',
      answer: { kind: 'approval', request_id: 7, decision },
      label: 'Allow',
      by,
    });
  const resolvedWith = (response: object) => receive(numbered([['request_resolved', { request_id: 7, response }]], 9));
  const saidOf = (state: RootState) => partsOf(state).flatMap((part) => (part.kind === 'resolution' ? part.text : []));

  it('whose answer is on its way offers no other', () => {
    expect(partsOf(fold([answer('person')], waiting))).toMatchObject([
      { answers: [], unanswerable: 'The answer is on its way.' },
    ]);
  });

  it.each([
    [
      'a native attachment that may not',
      { ...BUSY },
      'This attachment may not answer requests; another client of the runtime does.',
    ],
    ['a harness that answers itself', HOSTED, "Answer it in claude-code: its requests can't be answered from here."],
  ])('of %s answer it is shown without a button, and says who does', (_, descriptor, unanswerable) => {
    const actions = { ...descriptor.actions, respond: false };
    const events = numbered(turnOf(request('approval', APPROVAL)));
    const state = heard(events, { descriptor: { ...descriptor, actions, turnState: 'busy' } });
    expect(partsOf(state)).toMatchObject([{ kind: 'request', answers: [], unanswerable }]);
  });

  it.each<[string, 'person' | 'policy' | 'stop' | null, object, string]>([
    ['here', 'person', { decision: 'allow' }, 'Allowed.'],
    ['here, for the session', 'person', { decision: 'allow_for_session' }, 'Allowed for this session.'],
    ['here, with a word of the harness', 'person', { decision: 'acceptEdits' }, 'Answered (acceptEdits).'],
    ['here, somehow', 'person', { outcome: 'x' }, 'Answered.'],
    ['by the policy', 'policy', { decision: 'allow' }, 'auto-approved: bash: ls'],
    ['by the policy, for the session', 'policy', { decision: 'allow_for_session' }, 'auto-approved: bash: ls'],
    ['by the policy, with a no', 'policy', { decision: 'deny' }, 'auto-denied: bash: ls'],
    ['by Stop', 'stop', { decision: 'deny' }, 'Denied, because the turn was stopped.'],
    ['by the owner of a hosted runtime', null, { behavior: 'deny' }, 'Denied elsewhere.'],
    ['elsewhere: an answer', null, { action: 'accept' }, 'Answered elsewhere.'],
    ['elsewhere: no answer', null, { action: 'decline' }, 'Declined elsewhere.'],
    ['elsewhere: a cancel', null, { action: 'cancel' }, 'Cancelled elsewhere.'],
    ['elsewhere: a later action', null, { action: 'defer' }, 'Answered (defer) elsewhere.'],
  ])('that was resolved %s says so beneath', (_, by, response, text) => {
    const { decision } = response as { readonly decision?: string };
    const state = fold([...(by ? [answer(by, decision)] : []), ...resolvedWith(response)], waiting);
    expect(saidOf(state)).toEqual([text]);
  });

  it('that was answered before it came says so without its words', () => {
    const state = heard(numbered([['request_resolved', { request_id: 7, response: { decision: 'allow' } }]]));
    expect(saidOf(state)).toEqual(['Allowed elsewhere.']);
  });

  it.each([
    [
      'the turn ended',
      waiting,
      receive(numbered([['turn_succeeded']], 9)),
      'The turn ended before this request was answered.',
    ],
    [
      'the runtime does not hold it any more',
      waiting,
      [requestGone({ connection: 'c', requestId: 7 })],
      'The runtime no longer waits for this answer: it was answered elsewhere or withdrawn.',
    ],
    ['the turn was lost with its runtime', waiting, [attach()], 'The turn ended before this request was answered.'],
    [
      'the runtime was restarted',
      heard(numbered([request('approval', APPROVAL)]), { descriptor: HOSTED }),
      [attach({ descriptor: HOSTED })],
      'The runtime was restarted before this request was answered.',
    ],
  ])('that went because %s is inert and says why beneath', (_, before, actions, text) => {
    const state = fold(actions, before);
    const [part] = partsOf(state);
    expect(part).toMatchObject({ kind: 'request', answers: [] });
    expect(part?.kind === 'request' && part.unanswerable).toBeTruthy();
    expect(saidOf(state)).toEqual([text]);
  });
});

describe('what only we can tell', () => {
  const running = heard(numbered(turnOf(['text_delta', { text: 'Hi' }])));

  it.each([
    ['a restart', [attach()], 'notice', 'The runtime was restarted. What was shown before is kept.'],
    [
      'a gap',
      [replayRefused({ connection: 'c', message: 'too old', at: 0 })],
      'warning',
      "Part of this conversation can't be shown now: too old",
    ],
    [
      'an unreadable event',
      [malformedSeen({ connection: 'c', count: 1 })],
      'warning',
      'One event of the runtime could not be read.',
    ],
    [
      'unreadable events',
      [malformedSeen({ connection: 'c', count: 1234 })],
      'warning',
      '1,234 events of the runtime could not be read.',
    ],
    [
      'a history that does not fit',
      [attach({ historyCursor: 9, replay: [event(10, 'usage')] })],
      'notice',
      'The connection was down for a while; some of what happened then is not shown here.',
    ],
    [
      'an end that nobody told',
      [turnEnded({ connection: 'c', turnId: 'seen-2', outcome: 'failed', message: 'It never said how.' })],
      'warning',
      'It never said how.',
    ],
  ] as const)('is said of %s', (_, actions, kind, text) => {
    expect(withoutIds(partsOf(fold(actions, running)))).toContainEqual(note(kind, text));
  });

  it('is said of a hosted turn that was stopped: an interruption, not the failure that it looks like', () => {
    const state = fold(
      [
        interruptRequested({ connection: 'c', turnId: 'seen-2', at: 0 }),
        interruptAcknowledged({ connection: 'c', turnId: 'seen-2', at: 0 }),
        ...receive(numbered([['turn_failed', { message: 'aborted by user' }], ['turn_completed']], 4)),
      ],
      heard(numbered(turnOf(['text_delta', { text: 'Hi' }])), { descriptor: HOSTED }),
    );
    expect(withoutIds(partsOf(state)).slice(1)).toEqual([note('notice', 'Interrupted.')]);
  });
});

describe('the bounds', () => {
  const long = (units: number) => `${'x'.repeat(79)}\n`.repeat(Math.ceil(units / 80)).slice(0, units);
  const stated = /… \(([\d,]+) more characters\)/;
  const missingIn = (text: string) => Number(stated.exec(text)?.[1]?.replaceAll(',', ''));

  property.prop([fc.array(fc.nat({ max: 9000 }), { minLength: 20, maxLength: 50, size: 'max' }), fc.boolean()], {
    numRuns: 20,
    endOnFailure: true,
  })('let assistant text go on in a next part, and lose nothing of it', (lengths, thinking) => {
    const kind = thinking ? 'reasoning' : 'text_delta';
    const pieces = lengths.map((length, at) => `${at} ${long(length)}`);
    const parts = drawn(...pieces.map((text): Wire => [kind, { text }]));
    const texts = parts.map((part) => (part.kind === 'markdown' || part.kind === 'thinking' ? part.text : ''));
    expect(texts.join('')).toBe(pieces.join(''));
    expect(texts.filter((text) => text.length > PART_LIMIT)).toEqual([]);
    expect(parts.map(({ id }) => id)).toEqual(texts.map((_, at) => `0.0.${at}`));
    expect(parts.length).toBe(Math.max(1, parts.length));
    expect(parts.length).toBeGreaterThanOrEqual(Math.ceil(pieces.join('').length / PART_LIMIT));
  });

  it('part text at 64 KiB', () => {
    const parts = drawn(['text_delta', { text: 'x'.repeat(2 * PART_LIMIT + 1) }]);
    expect(parts.map((part) => (part.kind === 'markdown' ? part.text.length : 0))).toEqual([PART_LIMIT, PART_LIMIT, 1]);
  });

  it.each<[string, readonly Wire[], (part: ChatPart | undefined) => string]>([
    [
      'a tool’s output',
      [completed('a', 'bash', long(100_000))],
      (part) => (part?.kind === 'tool' ? (part.output ?? '') : ''),
    ],
    [
      'a tool’s arguments',
      [started('a', 'bash', long(100_000))],
      (part) => (part?.kind === 'tool' ? (part.input ?? '') : ''),
    ],
    ['a diff', [['diff_updated', { diff: long(100_000) }]], (part) => (part?.kind === 'diff' ? part.patch : '')],
    [
      'a failure',
      turnOf(['turn_failed', { message: long(100_000) }]),
      (part) => (part?.kind === 'warning' ? part.text : ''),
    ],
    [
      'a warning',
      [['cache_warning', { message: long(100_000) }]],
      (part) => (part?.kind === 'warning' ? part.text : ''),
    ],
    [
      'background output',
      [['background_output', { job_id: 'j', chunk: long(100_000) }]],
      (part) => (part?.kind === 'output' ? part.text : ''),
    ],
    [
      'a preview',
      turnOf(request('approval', { tool: 'bash', raw_args: { command: long(100_000) } })),
      (part) => (part?.kind === 'request' ? (part.preview ?? '') : ''),
    ],
  ])('[fault 36] cut %s at 64 KiB and state how much is missing', (_, wire, textOf) => {
    const text = textOf(drawn(...wire)[0]);
    expect(text.length).toBeLessThanOrEqual(PART_LIMIT);
    expect(text.length).toBeGreaterThan(PART_LIMIT - 200);
    expect(text.search(stated) + missingIn(text)).toBe(100_000);
  });

  it('leave room for saying that the runtime kept no more', () => {
    const [part] = drawn(['background_output', { job_id: 'j', chunk: long(100_000), truncated: true }]);
    const text = part?.kind === 'output' ? part.text : '';
    expect(text.length).toBeLessThanOrEqual(PART_LIMIT);
    expect(text.search(stated) + missingIn(text)).toBe(100_000);
    expect(text.endsWith('\n… (the runtime kept no more of this output)')).toBe(true);
  });

  it.each<[string, readonly Wire[], (part: ChatPart | undefined) => string | undefined]>([
    ['a tool’s name', [started('a', 'n'.repeat(1000))], (part) => (part?.kind === 'tool' ? part.name : undefined)],
    ['an unknown kind', [['k'.repeat(1000)]], (part) => (part?.kind === 'opaque' ? part.eventKind : undefined)],
    [
      'a request’s title',
      turnOf(request('approval', { tool: 't'.repeat(1000), subject: 's'.repeat(1000) })),
      (part) => (part?.kind === 'request' ? part.title : undefined),
    ],
    [
      'who aborted',
      [['turn_aborted', { source: 's'.repeat(1000) }]],
      (part) => (part?.kind === 'notice' ? part.text : undefined),
    ],
  ])('[fault 56] cut %s at 256 units', (_, wire, titleOf) => {
    const title = titleOf(drawn(...wire)[0]) ?? '';
    expect(title.length).toBeLessThanOrEqual(TITLE_LIMIT);
    expect(title.length).toBeGreaterThan(200);
    expect(title.endsWith('…')).toBe(true);
  });

  const huge = 'x'.repeat(10 * 1024 * 1024);
  const deep = JSON.parse(`${'{"a":['.repeat(10_000)}1${']}'.repeat(10_000)}`) as object;
  const shared = Array.from({ length: 40 }).reduce<object>((inner) => ({ one: inner, two: inner }), { x: 1 });
  it.each<[string, Wire]>([
    ['10 MB of text', ['a_later_kind', { text: huge }]],
    ['a million members', ['a_later_kind', { list: Array.from({ length: 1_000_000 }, (_, at) => at) }]],
    ['10 000 levels', ['a_later_kind', deep]],
    ['the same value in 2^40 places', ['a_later_kind', shared]],
    ['10 MB, of a harness of its own', ['native_event', { kind: 'plan', raw: { text: huge } }]],
    ['10 MB where a text should be', ['text_delta', { text: [huge] }]],
  ])('[fault 59] make one bounded cell of an event of %s', (_, wire) => {
    const parts = drawn(wire);
    expect(parts).toHaveLength(1);
    const [part] = parts;
    expect(part?.kind).toBe('opaque');
    if (part?.kind !== 'opaque') return;
    expect(part.text.length).toBeLessThanOrEqual(2048);
    expect(part.text).toContain('…');
    // How much is missing is not known, so no number is given.
    expect(part.text).not.toContain('more character');
    expect(JSON.stringify(parts).length).toBeLessThan(5000);
  });
});

describe('control characters', () => {
  const dirty =
    'a\u001b[31mred\u001b[0m\u0007\u0000\u009b1mb\r\nc\u202ed\u001b]8;;http://evil\u0007link\u001b]8;;\u0007';
  const wires: readonly Wire[] = [
    ['text_delta', { text: dirty }],
    ['reasoning', { text: dirty }],
    started('a\u001b[31m', dirty, dirty),
    completed('b', dirty, dirty),
    ['diff_updated', { diff: `--- a/${dirty}\n+++ b/${dirty}\n@@ -1 +1 @@\n-${dirty}\n+x\n` }],
    request('approval', {
      tool: dirty,
      subject: dirty,
      raw_args: { command: dirty, [dirty]: dirty },
      decisions: [dirty],
    }),
    [
      'request',
      {
        request: {
          id: 8,
          kind: 'elicitation',
          payload: { message: dirty, requested_schema: { properties: { [dirty]: { title: dirty } } } },
        },
      },
    ],
    ['request', { request: { id: 9, kind: 'other', payload: { [dirty]: dirty } } }],
    ['request_resolved', { request_id: 7, response: { decision: dirty } }],
    ['request_resolved', { request_id: 8, response: { action: dirty } }],
    ['cache_warning', { message: dirty }],
    ['provider_retry', { attempt: 1, delay_ms: 1, reason: dirty }],
    ['model_changed', { from: dirty, to: dirty, reason: dirty }],
    ['background_output', { job_id: dirty, chunk: dirty, truncated: true }],
    ['turn_aborted', { source: dirty }],
    ['scheduled_prompt_started', { prompt: dirty }],
    ['scheduler_error', { message: dirty }],
    ['native_event', { kind: dirty, raw: { [dirty]: dirty } }],
    [dirty, { [dirty]: dirty }],
    ['turn_failed', { message: dirty }],
  ];

  /** Every text of a part that a person may come to see. */
  function textsOf(value: unknown): readonly string[] {
    if (typeof value === 'string') return [value];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, member]) =>
      // What is sent back goes back as it came; ids and the schema are not shown.
      ['response', 'schema', 'callId', 'id'].includes(name) ? [] : textsOf(member),
    );
  }

  it('[fault 55] never reach a part, nor do what would reorder it', () => {
    const state = fold(
      [
        replayRefused({ connection: 'c', message: dirty, at: 0 }),
        ...receive(numbered(wires)),
        turnEnded({ connection: 'c', turnId: 'x', outcome: 'failed', message: dirty }),
      ],
      heard([], { descriptor: { ...IDLE, sourceHarness: dirty, actions: { ...IDLE.actions, respond: false } } }),
    );
    const parts = partsOf(state);
    expect(parts.length).toBeGreaterThanOrEqual(wires.length);
    const bad = textsOf(parts).filter((text) => /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/.test(text));
    expect(bad).toEqual([]);
    expect(textsOf(parts).some((text) => text.includes('red'))).toBe(true);
  });

  it('[fault 55] are taken out of text that streams wherever it is cut', () => {
    const texts = Array.from(dirty);
    let state = heard([]);
    let cursor = startCursor(state, 'c');
    let piecewise = '';
    texts.forEach((text, at) => {
      state = fold(receive([event(at + 1, 'text_delta', { text })]), state);
      const read = selectNewParts(state, 'c', cursor);
      cursor = read.cursor;
      piecewise += read.parts.map((part) => (part.kind === 'markdown' ? part.text : '')).join('');
    });
    expect(piecewise).toBe('aredb\nc⟨U+202E⟩dlink');
  });
});
