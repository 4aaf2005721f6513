import { findPasswordFault, hashPassword } from '../src/access/passwords.js';
import { createUsers, readUserName, type User, type UsersFile } from '../src/access/users-file.js';
import type { NewUserOptions } from '../src/cli/commands/users.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderUsers, toUserReports } from '../src/cli/users.js';
import type { Config } from '../src/config/load.js';
import { createTerminalAsker } from '../src/setup/asker.js';
import { UsageError } from '../src/text/usage-error.js';
import { findUsersFile } from './access.js';
import { recordWhereLedger } from './audit.js';
import type { Terminal } from './terminal.js';

/** Adds somebody who may use the pages of `serve`, or changes their role and password. */
export async function addUser(
  config: Config,
  written: string,
  { role, withoutPassword }: NewUserOptions,
  terminal: Terminal,
): Promise<number> {
  const file = requireFile(config);
  const name = readUserName(written);
  if (name === undefined)
    throw new UsageError(
      'a name consists of up to 100 ASCII letters, digits and punctuation marks, without spaces',
    );
  // Reports a damaged file before anyone types.
  await file.read();
  const password = withoutPassword ? undefined : await readNewPassword(name, terminal);
  const user: User = {
    name,
    role,
    ...(password !== undefined && { password: await hashPassword(password) }),
  };
  await recordWhereLedger(config, { action: 'user-add', details: { name, role } }, terminal);
  const known = (await file.read()) ?? createUsers();
  const others = known.users.filter((one) => one.name !== name);
  const isNew = others.length === known.users.length;
  const users = [...others, user].sort((one, other) => (one.name < other.name ? -1 : 1));
  file.replace({ ...known, users });
  if (withoutPassword && config.server.signIn === undefined)
    terminal.warn(
      `warning: without a password, ${name} can sign in only by a proxy, and server.signIn is not set`,
    );
  const done = isNew
    ? `${name} is added as ${role}`
    : `${name} is now ${role}, and earlier sessions have ended`;
  terminal.answer(`${done}. \`serve\` knows at the next request.\n`, { name, role, isNew });
  return exitCode.done;
}

export async function listUsers(config: Config, terminal: Terminal): Promise<number> {
  const { users } = (await requireFile(config).read()) ?? createUsers();
  terminal.answer(renderUsers(users, terminal.command), { users: toUserReports(users) });
  return exitCode.done;
}

export async function removeUser(config: Config, written: string, terminal: Terminal): Promise<number> {
  const file = requireFile(config);
  const known = await file.read();
  const user = known?.users.find(({ name }) => name === readUserName(written));
  if (known === undefined || user === undefined)
    throw new UsageError(
      `there is no user of that name in ${file.path}; see \`${terminal.command('user list')}\``,
    );
  const { name } = user;
  await recordWhereLedger(config, { action: 'user-remove', details: { name } }, terminal);
  const users = known.users.filter((one) => one !== user);
  file.replace({ ...known, users });
  const lines = [
    `${name} is removed, and their sessions have ended.`,
    ...(users.length === 0
      ? ['Nobody is left: the pages are now read-only on this machine, and refused elsewhere.']
      : []),
  ];
  terminal.answer(`${lines.join('\n')}\n`, { name });
  return exitCode.done;
}

function requireFile(config: Config): UsersFile {
  const file = findUsersFile(config);
  if (file) return file;
  throw new UsageError(
    'server.users is not set: write `users: ./users.json` below `server:` in the configuration, restart `serve`, and try again',
  );
}

/** Far longer than any password. */
const longestInput = 10_000;

/** @throws UsageError for one that is too weak */
async function readNewPassword(name: string, terminal: Terminal): Promise<string> {
  const { stdin, stderr } = terminal.io;
  const password = stdin.isTTY && stderr.isTTY ? await askTwice(name, terminal) : await readLine(stdin);
  const fault = findPasswordFault(password, name);
  if (fault !== undefined) throw new UsageError(`the password ${fault}; nothing was changed`);
  return password;
}

async function askTwice(name: string, { io, signal }: Terminal): Promise<string> {
  const asker = createTerminalAsker({ input: io.stdin, output: io.stderr, signal });
  const check = (answer: string) => {
    const fault = findPasswordFault(answer, name);
    return fault && `The password ${fault}.`;
  };
  const password = (await asker.secret({ message: `Password for ${name}`, check })) ?? '';
  const again = (await asker.secret({ message: 'Repeat the password', check: () => undefined })) ?? '';
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
