import type { User } from '../access/users-file.js';
import { formatCountOf } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from '../text/tables.js';

/** Users as `user list --json` prints them. */
export function toUserReports(users: readonly User[]) {
  return users.map(({ name, role, password }) => ({ name, role, hasPassword: password !== undefined }));
}

export function renderUsers(users: readonly User[], command: WriteCommand): string {
  if (users.length === 0)
    return `Nobody can sign in yet. To add a user: ${command('user add NAME --role admin')}\n`;
  const rows = users.map(({ name, role, password }) => [
    name,
    role,
    password === undefined ? 'by proxy only' : 'with a password',
  ]);
  return `${formatCountOf(users.length, 'user')}\n${renderTable(rows, ['name', 'role', 'signs in'])}\n`;
}
