import { formatCountOf } from '../../base/format.js';
import { isLoopbackAddress } from '../../base/loopback.js';
import { describeError } from '../../base/safe-error.js';
import type { Config } from '../../config/load.js';
import { may } from '../../storage/access/roles.js';
import type { UsersFile } from '../../storage/access/users-file.js';
import { type Finding, findingsOf } from '../examination/finding.js';

const { ok, warning, wrong } = findingsOf('users');

type Settings = Pick<Config['server'], 'host' | 'signIn'>;

const addSomebody = 'Add somebody: `hotel-review user add NAME --role admin`';

/**
 * Checks who may use the pages of `serve`.
 *
 * @param file undefined if none is configured
 */
export async function checkUsers(
  { host, signIn }: Settings,
  file: Pick<UsersFile, 'path' | 'read'> | undefined,
): Promise<readonly Finding[]> {
  const withoutUsers = isLoopbackAddress(host)
    ? 'the pages of serve are read-only'
    : `the pages of serve are refused, because server.host is ${host}`;
  if (file === undefined) {
    if (isLoopbackAddress(host)) return [];
    return [warning(`server.users is not set: ${withoutUsers}`, `Set it to ./users.json. ${addSomebody}.`)];
  }
  try {
    const { users } = (await file.read()) ?? { users: [] };
    if (users.length === 0) return [warning(`${file.path} holds nobody: ${withoutUsers}`, `${addSomebody}.`)];
    const operators = users.filter(({ role }) => may(role, 'operate'));
    const shutOut = users.filter(({ password }) => password === undefined && signIn === undefined);
    return [
      operators.length > 0
        ? ok(
            `${file.path}: ${formatCountOf(users.length, 'user')}, of whom ${operators.length} may start and cancel runs`,
          )
        : warning(
            `${file.path}: no user may start or cancel runs on the pages of serve`,
            `${addSomebody} or operator.`,
          ),
      ...shutOut.map(({ name }) =>
        warning(
          `${name} has no password, and can't sign in`,
          'Add the name again with a password, or set server.signIn to your proxy.',
        ),
      ),
    ];
  } catch (error) {
    return [wrong(describeError(error), 'serve does not start with it.')];
  }
}
