import { formatCountOf } from '../../src/base/format.js';
import { UsageError } from '../../src/base/safe-error.js';
import { renderTable } from '../../src/base/tables.js';
import { createAsker } from '../../src/checks/setup/asker.js';
import type { Config } from '../../src/config/load.js';
import { findPasswordFault, hashPassword } from '../../src/storage/access/passwords.js';
import { roles } from '../../src/storage/access/roles.js';
import { createUsers, readUserName, userToJson } from '../../src/storage/access/users-file.js';
import { type AnyCommand, command, flag, option } from '../command.js';
import { findUsersFile } from '../parts.js';
import type { CommandIo } from '../process.js';

/** Adds somebody who may use the pages of `serve`, or changes their role and password. */
const add = command({
  summary: 'add somebody, or give them another role and password',
  usage: '<name>',
  arguments: (written: string) => ({ written }),
  options: {
    role: option('--role <role>', 'what they may do', { choices: roles, required: true }),
    withoutPassword: flag('--without-password', 'for those who sign in at a proxy (setting server.signIn)'),
  },
  examples: `
Roles:
  viewer    sees days, runs, counts, providers and mappings
  team      also sees bookings with guests' names, and works on cases
  operator  also sees bookings with masked names, starts and cancels runs
  admin     everything, including the audit trail

The password is asked for twice, or read from standard input: one line of at
least 12 characters.

Examples:
  hotel-review user add ana --role admin
  hotel-review user add ben --role team < password.txt
  hotel-review user add eva@example.com --role viewer --without-password`,

  async run(app, { written, role, withoutPassword }) {
    const file = requireFile(app.config);
    const name = readUserName(written);
    if (name === undefined)
      throw new UsageError(
        'a name consists of up to 100 ASCII letters, digits and punctuation marks, without spaces',
      );
    // Reports a damaged file before anyone types.
    await file.read();
    const password = withoutPassword
      ? undefined
      : await hashPassword(await readNewPassword(name, app.io, app.signal));
    await app.record({ action: 'user-add', details: { name, role } });
    const known = (await file.read()) ?? createUsers();
    const others = known.users.filter((one) => one.name !== name);
    const isNew = others.length === known.users.length;
    const users = [...others, { name, role, ...(password !== undefined && { password }) }];
    file.replace({ ...known, users: users.sort((one, other) => (one.name < other.name ? -1 : 1)) });
    if (withoutPassword && app.config.server.signIn === undefined)
      app.warn(
        `warning: without a password, ${name} can sign in only by a proxy, and server.signIn is not set`,
      );
    const done = isNew
      ? `${name} is added as ${role}`
      : `${name} is now ${role}, and earlier sessions have ended`;
    return app.answer(`${done}. \`serve\` knows at the next request.`, { name, role, isNew });
  },
});

const list = command({
  summary: 'list their names and roles',
  async run(app) {
    const { users } = (await requireFile(app.config).read()) ?? createUsers();
    const json = { users: users.map(userToJson) };
    if (users.length === 0)
      return app.answer(
        `Nobody can sign in yet. To add a user: ${app.command('user add NAME --role admin')}`,
        json,
      );
    const rows = users.map(({ name, role, password }) => [
      ...[name, role],
      password === undefined ? 'by proxy only' : 'with a password',
    ]);
    return app.answer(
      [formatCountOf(users.length, 'user'), renderTable(rows, ['name', 'role', 'signs in'])],
      json,
    );
  },
});

const remove = command({
  summary: 'remove somebody; their sessions end at once',
  usage: '<name>',
  arguments: (written: string) => ({ written }),
  async run(app, { written }) {
    const file = requireFile(app.config);
    const known = await file.read();
    const user = known?.users.find(({ name }) => name === readUserName(written));
    if (known === undefined || user === undefined)
      throw new UsageError(
        `there is no user of that name in ${file.path}; see \`${app.command('user list')}\``,
      );
    const { name } = user;
    await app.record({ action: 'user-remove', details: { name } });
    const users = known.users.filter((one) => one !== user);
    file.replace({ ...known, users });
    return app.answer(
      [
        `${name} is removed, and their sessions have ended.`,
        users.length === 0 &&
          'Nobody is left: the pages are now read-only on this machine, and refused elsewhere.',
      ],
      { name },
    );
  },
});

function requireFile(config: Config) {
  const file = findUsersFile(config);
  if (file) return file;
  throw new UsageError(
    'server.users is not set: write `users: ./users.json` below `server:` in the configuration, restart `serve`, and try again',
  );
}

export default {
  place: ['guests', 4],
  summary: 'manage who may use the pages of serve (setting server.users)',
  examples: `
Examples:
  hotel-review user add ana --role admin
  hotel-review user list
  hotel-review user remove ana`,
  commands: { add, list, remove },
} satisfies AnyCommand;

/** Far longer than any password. */
const longestInput = 10_000;

/** Asks for a password twice, or reads it from standard input. @throws UsageError for one that is too weak */
async function readNewPassword(name: string, streams: CommandIo, signal: AbortSignal): Promise<string> {
  const { stdin, stderr } = streams;
  const password =
    stdin.isTTY && stderr.isTTY ? await askTwice(name, streams, signal) : await readLine(stdin);
  const fault = findPasswordFault(password, name);
  if (fault !== undefined) throw new UsageError(`the password ${fault}; nothing was changed`);
  return password;
}

async function askTwice(name: string, { stdin, stderr }: CommandIo, signal: AbortSignal): Promise<string> {
  const { ask } = createAsker(stdin, stderr, signal);
  const check = (answer: string) => {
    const fault = findPasswordFault(answer, name);
    return fault && `The password ${fault}.`;
  };
  const password = await ask({ message: `Password for ${name}`, check, isSecret: true });
  const again = await ask({ message: 'Repeat the password', check: () => undefined, isSecret: true });
  if (password !== again) throw new UsageError('the two passwords differ; nothing was changed');
  return password;
}

async function readLine(input: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const piece of input.setEncoding('utf8')) {
    text += piece;
    if (text.length > longestInput) break;
  }
  const [line = '', ...more] = text.split(/\r?\n/);
  if (more.some((other) => other !== ''))
    throw new UsageError('expected the password as one line of standard input, got: several');
  return line;
}
