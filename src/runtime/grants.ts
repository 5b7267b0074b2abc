/** Permissions of a credential and the request header that narrows them (§2.2). */
export const PERMISSIONS = ['observe', 'interact', 'approve', 'terminate'] as const;
export type Permission = (typeof PERMISSIONS)[number];
export type Permissions = ReadonlySet<Permission>;

export const OWNER_PERMISSIONS: Permissions = new Set(PERMISSIONS);
export const GRANTS = {
  interactive: new Set<Permission>(['observe', 'interact', 'approve']),
  observer: new Set<Permission>(['observe']),
} as const satisfies Record<string, Permissions>;
export type Grant = keyof typeof GRANTS;

export const isGrant = (value: unknown): value is Grant => value === 'interactive' || value === 'observer';

const isPermission = (name: string): name is Permission => PERMISSIONS.some((known) => known === name);

/** The granted permissions that the header also names; undefined when it names an unknown one. */
export const narrow = (granted: Permissions, header: string | undefined): Permissions | undefined => {
  if (header === undefined) return granted;
  if (header === '') return new Set();
  const asked = header.split(',');
  if (!asked.every(isPermission)) return undefined;
  return new Set(asked.filter((permission) => granted.has(permission)));
};
