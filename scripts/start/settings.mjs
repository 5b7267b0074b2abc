/** The settings of the profile that `npm start` opens an editor with: the Chat view at once, and nothing else that asks. */
export const SETTINGS = {
  // The second side bar, where the Chat view is, stays hidden in some windows that have never been opened before.
  'workbench.secondarySideBar.defaultVisibility': 'visible',
  'workbench.startupEditor': 'none',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.tips.enabled': false,
  'workbench.reduceMotion': 'auto',
  'chat.tips.enabled': false,
  'git.enabled': true,
  'git.openRepositoryInParentFolders': 'never',
  // The folder is ours, or was named on the command line.
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'update.showReleaseNotes': false,
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
};
