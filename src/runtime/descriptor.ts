import { COMMANDS, OPERATIONS } from './operations.js';
import type { Permissions } from './grants.js';
import type { JsonObject } from './wire.js';

const EVENT_KINDS = [
  'user_message',
  'turn_started',
  'turn_succeeded',
  'turn_interrupted',
  'turn_failed',
  'text_delta',
  'turn_completed',
  'tool_call_started',
  'tool_call_completed',
  'cache_warning',
  'usage',
  'background_output',
  'request',
  'request_resolved',
  'scheduled_prompt_started',
  'scheduled_prompt_deferred',
  'scheduled_prompt_completed',
  'scheduler_error',
];

/** What a client may know of the runtime (§5.1). The actions are masked by what this client is permitted. */
export const describeRuntime = (
  state: { sessionId: string; model: string; isBusy: boolean; isClosing: boolean },
  permissions: Permissions,
): JsonObject => {
  const interact = permissions.has('interact');
  return {
    schema_version: 2,
    session_id: state.sessionId,
    source_harness: null,
    emulation_profile: null,
    active_modules: ['tools_apply_patch', 'tools_background', 'tools_question', 'permissions', 'server'],
    commands: COMMANDS,
    operations: OPERATIONS,
    actions: {
      submit: interact,
      interrupt: interact,
      steer: interact,
      respond: interact && permissions.has('approve'),
      detach: permissions.has('observe'),
      close: permissions.has('terminate'),
    },
    display: { event_kinds: EVENT_KINDS, opaque_fallback: true },
    model: state.model,
    turn_state: state.isBusy ? 'busy' : 'idle',
    connection_state: state.isClosing ? 'shutting_down' : 'connected',
  };
};
