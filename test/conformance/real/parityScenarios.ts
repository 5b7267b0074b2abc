/** Scripts that are played on the embedded runtime and on `supercode serve`; both must tell the same story. */
import type { Player } from './player.js';
import { bash, script } from '../wire.js';

export interface ParityScenario {
  readonly approval?: 'never';
  readonly legacyGate?: boolean;
  readonly play: (player: Player) => Promise<void>;
}

const tool = (name: string, args: unknown, id = 'call_1'): Record<string, unknown> => ({ name, id, args });
const one = (name: string, args: unknown): Record<string, unknown> => ({ calls: [tool(name, args)] });
const patch = (...lines: string[]): Record<string, unknown> =>
  one('apply_patch', { patch: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n') });

const QUESTION = {
  question: 'Which?',
  header: 'Pick',
  options: [{ label: 'a' }, { label: 'b', description: 'second' }],
};

export const PARITY_SCENARIOS: Readonly<Record<string, ParityScenario>> = {
  'text turns': {
    play: async (player) => {
      await player.turn(script({ text: 'The quick brown fox.' }));
      await player.turn('a prompt without a script');
      await player.turn(script({ chunks: ['a', '  ', 'b\n'] }));
      await player.turn(script({ text: 'one', repeat: { n: 12, text: 'w', pad: 3 } }));
      await player.turn(script({ text: '  leading and trailing  ' }));
      await player.turn(
        script({
          text: 'Counted.',
          usage: {
            prompt_tokens: 5,
            completion_tokens: 6,
            total_tokens: 11,
            prompt_tokens_details: { cached_tokens: 3 },
          },
        }),
      );
      await player.turn(script({}));
      await player.turn('[[script]] not json');
      await player.snapshot();
    },
  },
  'tools, allowed and denied': {
    play: async (player) => {
      await player.turn(script({ text: 'Running.', ...one('bash', { command: 'printf out; printf err >&2' }) }));
      await player.turn(script(one('bash', { command: 'true' }), { text: 'Silent.' }));
      await player.turn(script(one('bash', { command: 'printf x; exit 7' }), { text: 'Seven.' }));
      await player.turn(script(one('bash', { command: 'kill -9 $$' }), { text: 'Killed.' }));
      await player.turn(script(one('bash', { command: 'sleep 5', timeout_ms: 200 }), { text: 'Late.' }));
      await player.turn(script(one('bash', { command: 'sleep 60 & echo left' }), { text: 'Left behind.' }));
      await player.turn(script(one('bash', { command: 'printf no' }), { text: 'Denied.' }), { decision: 'deny' });
      await player.turn(script({ calls: [bash('printf A', 'a'), bash('printf B', 'b')] }, { text: 'Two.' }), {
        decision: 'allow_for_session',
      });
      await player.turn(script({ calls: [bash('printf A', 'a2')] }, { text: 'Known.' }));
      await player.snapshot();
    },
  },
  'file tools': {
    approval: 'never',
    play: async (player) => {
      await player.turn(
        script(
          one('write_file', { path: 'deep/new.txt', content: 'first\nsecond\nüml\n' }),
          one('read_file', { path: 'deep/new.txt' }),
          one('read_file', { path: 'deep/new.txt', offset: 2, limit: 1 }),
          one('edit_file', { path: 'deep/new.txt', old_string: 'second', new_string: 'zweite' }),
          one('edit_file', { path: 'deep/new.txt', old_string: 'absent', new_string: 'x' }),
          one('edit_file', { path: 'deep/new.txt', old_string: 'i', new_string: '!' }),
          one('edit_file', { path: 'deep/new.txt', old_string: 't', new_string: 'T', replace_all: true }),
          one('edit_file', { path: 'deep/new.txt', old_string: '', new_string: 'x' }),
          one('edit_file', { path: 'absent.txt', old_string: 'a', new_string: 'b' }),
          one('read_file', { path: 'deep' }),
          one('read_file', {}),
          one('write_file', { path: 'a.txt' }),
          one('read_file', { path: 5 }),
          one('write_file', { path: '../outside.txt', content: 'x' }),
          one('write_file', { path: '/tmp/outside.txt', content: 'x' }),
          { text: 'Files done.' },
        ),
      );
      await player.turn(
        script(
          patch('*** Add File: patched.txt', '+alpha', '+beta', '+gamma'),
          patch('*** Update File: patched.txt', '@@', ' alpha', '-beta', '+BETA'),
          patch('*** Update File: patched.txt', '@@ BETA', '+inserted'),
          patch('*** Update File: patched.txt', '*** Move to: moved.txt', '@@', '-gamma', '+delta'),
          one('read_file', { path: 'moved.txt' }),
          patch('*** Update File: moved.txt', '@@', '-nothing like it', '+x'),
          patch('*** Delete File: moved.txt'),
          patch('*** Delete File: moved.txt'),
          one('apply_patch', { patch: 'no envelope' }),
          patch(),
          { text: 'Patches done.' },
        ),
      );
      await player.snapshot();
    },
  },
  'calls that ask although nothing else does': {
    approval: 'never',
    play: async (player) => {
      const escalated = { command: 'printf out', with_escalated_permissions: true, justification: 'to see it' };
      await player.turn(script(one('bash', escalated), one('apply_patch', { patch: 'x' }), { text: 'Asked.' }));
      await player.turn(script(one('bash', escalated), { text: 'Denied.' }), { decision: 'deny' });
    },
  },
  'malformed calls': {
    play: async (player) => {
      await player.turn(
        script(
          one('no_such_tool', {}),
          { calls: [{ name: 'read_file', id: 'half', args: '{"path": ' }] },
          { calls: [{ name: 'read_file', id: 'string', args: '{"path": "abc' }] },
          { calls: [{ name: 'bash', args: { command: 'printf unnamed' } }] },
          { text: 'Errors done.' },
        ),
      );
    },
  },
  questions: {
    play: async (player) => {
      const ask = (questions: unknown): string => script(one('ask_user', { questions }), { text: 'Understood.' });
      await player.turn(ask([QUESTION]), { content: { q1: 'a' } });
      await player.turn(ask([QUESTION, { ...QUESTION, multiSelect: true }]), {
        content: { q1: 'free', q2: ['a', 'b'] },
      });
      await player.turn(ask([{ question: 'No header?', options: [] }]), { content: { q1: 4 } });
      await player.turn(ask([QUESTION]), { content: {} });
      await player.turn(ask([QUESTION]), { action: 'decline' });
      await player.turn(ask([QUESTION]), { action: 'cancel' });
      await player.turn(ask([]), {});
      await player.turn(ask([QUESTION]), { decision: 'deny' });
      await player.snapshot();
    },
  },
  failures: {
    play: async (player) => {
      for (const step of [
        { status: 400, body: { error: { message: 'no' } } },
        { status: 429, body: { error: { message: 'slow down' } } },
        { status: 500 },
        { text: 'cut off here', cut: 2, delay: 20 },
        { text: 'cut at once', cut: 0 },
      ]) {
        await player.turn(script(step));
      }
      await player.turn('still there');
      await player.snapshot();
    },
  },
  interrupts: {
    play: async (player) => {
      await player.interruptAt('text_delta', script({ repeat: { n: 100, text: 'w' }, delay: 40 }), { deltas: false });
      await player.interruptAt('turn_started', script({ hang: true }));
      await player.interruptAt('request', script({ calls: [bash('printf held')] }, { text: 'x' }), { answer: 'deny' });
      await player.interruptAt('request', script({ calls: [bash('printf held')] }, { text: 'x' }), { answer: 'allow' });
      await player.interruptElicitation(script(one('ask_user', { questions: [QUESTION] }), { text: 'x' }));
      await player.turn('after all that');
      await player.snapshot();
    },
  },
  operations: {
    play: async (player) => {
      await player.turn('/greet now');
      await player.turn('/greet');
      await player.turn('/unheard of');
      const invoke = (operation: unknown): Promise<void> => player.call('invoke', { operation });
      await invoke({ kind: 'model', operation_id: 'model:switch', model: '' });
      await invoke({ kind: 'model', operation_id: 'model:switch', model: 'scripted/other' });
      await invoke({ kind: 'model', operation_id: 'model:switch', model: ' scripted/other ' });
      await invoke({ kind: 'prompt', operation_id: 'prompt:greet', arguments: 'you' });
      await invoke({ kind: 'prompt', operation_id: 'prompt:absent', arguments: '' });
      await invoke({ kind: 'prompt', operation_id: 'context:usage', arguments: '' });
      await invoke({ kind: 'prompt', operation_id: 'prompt:greet' });
      await invoke({ kind: 'context', operation_id: 'context:usage' });
      await invoke({ kind: 'context', operation_id: 'context:absent' });
      await invoke({ kind: 'unheard_of', operation_id: 'x' });
      await player.images(script({ text: 'I see it.' }), ['data:image/png;base64,AAAA']);
      await player.snapshot();
    },
  },
  'background jobs': {
    approval: 'never',
    play: async (player) => {
      await player.turn(
        script(one('background_exec', { command: 'echo one; sleep 0.2; echo two >&2; sleep 30' }), {
          text: 'Started.',
        }),
      );
      await player.pause(600);
      const job = player.newestJob();
      await player.turn(
        script(
          one('background_status', { job_id: job }),
          one('background_status', { job_id: job }),
          one('background_list', {}),
          one('background_kill', { job_id: job }),
          one('background_status', { job_id: job }),
          one('background_status', {}),
          one('background_exec', {}),
          { text: 'Seen to.' },
        ),
      );
    },
  },
  'a background job that would need approval': {
    play: (player) => player.turn(script(one('background_exec', { command: 'echo one' }), { text: 'Denied.' })),
  },
  'the legacy gate': {
    legacyGate: true,
    play: async (player) => {
      await player.turn(script(one('bash', { command: 'printf one' }), { text: 'One.' }), {
        decision: 'allow_for_session',
      });
      await player.turn(script(one('bash', { command: 'printf one' }), { text: 'Two.' }), { decision: 'deny' });
      await player.turn(script({ calls: [{ name: 'read_file', id: 'half', args: '{"path": ' }] }, { text: 'Three.' }));
      await player.turn(script(one('no_such_tool', {}), { text: 'Four.' }));
      await player.turn(script(one('background_exec', { command: 'echo one' }), { text: 'Five.' }));
      await player.snapshot();
    },
  },
};
