import type * as vscode from 'vscode';

/** The API proposals that this extension has a use for. Source: `enabledApiProposals` of the manifest. */
export const PROPOSALS = [
  'defaultChatParticipant',
  'chatParticipantAdditions',
  'chatSessionsProvider',
  'chatParticipantPrivate',
  'chatProvider',
] as const;

export type Proposal = (typeof PROPOSALS)[number];
export type Grants = ReadonlySet<Proposal>;

/**
 * What this editor really grants: it strips from the running extension's manifest what it refuses. A manifest may name
 * a proposal's version (`chatProvider@4`).
 */
export function grantsOf(context: vscode.ExtensionContext): Grants {
  const manifest = context.extension.packageJSON as { readonly enabledApiProposals?: unknown };
  const listed = Array.isArray(manifest.enabledApiProposals) ? manifest.enabledApiProposals : [];
  const names = listed.map((entry) => String(entry).replace(/@.*$/, ''));
  return new Set(PROPOSALS.filter((proposal) => names.includes(proposal)));
}

/** One line for the log. */
export function refusedProposals(grants: Grants): string | undefined {
  const refused = PROPOSALS.filter((proposal) => !grants.has(proposal));
  return refused.length === 0
    ? undefined
    : `This editor does not grant ${refused.join(', ')}; what needs them is shown by other means.`;
}
