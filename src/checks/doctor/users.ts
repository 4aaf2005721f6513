import { formatCountOf } from '../../base/format.js';
import { may } from '../../storage/access/roles.js';
import { openUsersFile } from '../../storage/access/users-file.js';
import { type Check, findingsOf } from '../check.js';

const { ok, warning } = findingsOf('users');

const addSomebody = 'Add somebody: `hotel-review user add NAME --role admin`';

/** Who may use the pages of `serve`. */
export const users: Check = {
  part: 'users',
  async look({ config }) {
    const { users: path, signIn } = config.server;
    if (path === undefined) return [];
    const { users = [] } = (await openUsersFile(path).read()) ?? {};
    if (users.length === 0)
      return [warning(`${path} holds nobody: nobody can sign in at the pages of serve`, `${addSomebody}.`)];
    const operators = users.filter(({ role }) => may(role, 'operate')).length;
    const shutOut = users.filter(({ password }) => password === undefined && signIn === undefined);
    return [
      operators > 0
        ? ok(
            `${path}: ${formatCountOf(users.length, 'user')}, of whom ${operators} may start and cancel runs`,
          )
        : warning(
            `${path}: no user may start or cancel runs on the pages of serve`,
            `${addSomebody} or operator.`,
          ),
      ...shutOut.map(({ name }) =>
        warning(
          `${name} has no password, and can't sign in`,
          'Add the name again with a password, or set server.signIn to your proxy.',
        ),
      ),
    ];
  },
};
