import type { Role } from '../../../src/storage/access/roles.js';
import { createUsers, openUsersFile } from '../../../src/storage/access/users-file.js';
import { password, passwordHash } from '../../desk/access/some-users.js';

/** Who uses the desk of the month. */
export const people: Readonly<Record<Role, string>> = {
  admin: 'ada',
  operator: 'omar',
  team: 'bea',
  viewer: 'vera',
};

/** Of each of them. */
export const passwordOfPeople = password;

export function writePeople(file: string): void {
  const users = Object.entries(people).map(([role, name]) => ({
    name,
    role: role as Role,
    password: passwordHash,
  }));
  openUsersFile(file).replace({ ...createUsers(), users });
}
