/** A user's role, as in the users' file. */
export type Role = (typeof roles)[number];
export const roles = ['viewer', 'team', 'operator', 'admin'] as const;

/** What a page or an action of the desk requires. */
export type Permission = (typeof permissions)[number];
export const permissions = [
  /** Days, runs, counts, providers and mappings. */
  'look',
  /** Booking references, and what is known about each. */
  'see-bookings',
  /** Guests' names; they are masked otherwise. */
  'see-names',
  /** Change cases and resolve their bookings. */
  'work-cases',
  /** Start, resume and cancel runs, and whatever else acts on the service. */
  'operate',
  'see-audit',
] as const;

const granted: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['look'],
  team: ['look', 'see-bookings', 'see-names', 'work-cases'],
  operator: ['look', 'see-bookings', 'operate'],
  admin: permissions,
};

export function may(role: Role, permission: Permission): boolean {
  return granted[role].includes(permission);
}

/** Who is asking, as far as known. */
export interface Visitor {
  readonly name: string;
  readonly role: Role;
}
