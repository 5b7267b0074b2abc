/** The commands of the manifest that need more than the output channel, without `supercode.frontend.` in front. */
export const COMMAND_NAMES = [
  'connect',
  'disconnect',
  'setRuntimeToken',
  'respond',
  'respondInTurnApproval',
  'allow',
  'deny',
  'answer',
  'stop',
  'choosePermissions',
  'saveTurn',
  'reviewChanges',
  'showStatus',
  'openChat',
  'openSession',
  'status',
  'stopTurn',
  'activateSession',
  'focusSession',
] as const;

export type CommandName = (typeof COMMAND_NAMES)[number];
