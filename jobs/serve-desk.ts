import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hashPassword } from '../src/access/passwords.js';
import { roles } from '../src/access/roles.js';
import { createUsers, openUsersFile } from '../src/access/users-file.js';
import type { Config } from '../src/config/load.js';
import { withApp } from './app.js';
import { serve } from './serve.js';
import type { Terminal } from './terminal.js';

/** Serves the desk of a first run until Ctrl-C, with a user of each role. Loaded only when it is asked for. */
export async function serveDesk(config: Config, folder: string, terminal: Terminal): Promise<number> {
  const path = join(folder, 'users.json');
  const secret = randomBytes(12).toString('base64url');
  const password = await hashPassword(secret);
  const users = roles.toSorted().map((name) => ({ name, role: name, password }));
  openUsersFile(path).replace({ ...createUsers(), users });
  terminal.say(`
To sign in there: ${roles.join(', ')}; the password of each is ${secret}
It is not shown again.
`);
  return withApp({ ...config, server: { ...config.server, users: path } }, terminal, (app) =>
    serve(app, { port: 0 }),
  );
}
