import { hashPassword } from '../../../src/access/passwords.js';
import type { Role } from '../../../src/access/roles.js';
import { createUsers, openUsersFile } from '../../../src/access/users-file.js';

/** Who uses the desk of the month. */
export const people: Readonly<Record<Role, string>> = {
  admin: 'ada',
  operator: 'omar',
  team: 'bea',
  viewer: 'vera',
};

/** Of each of them. */
export const passwordOfPeople = 'four random words';

export async function writePeople(file: string): Promise<void> {
  const password = await hashPassword(passwordOfPeople);
  const users = Object.entries(people).map(([role, name]) => ({ name, role: role as Role, password }));
  openUsersFile(file).replace({ ...createUsers(), users });
}
