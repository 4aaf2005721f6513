import { type Access, createAccess } from '../src/access/access.js';
import { openUsersFile, type UsersFile } from '../src/access/users-file.js';
import type { Config } from '../src/config/load.js';
import { isLoopbackAddress } from '../src/http/url.js';
import { clock } from './clock.js';

/** Undefined if no users' file is configured. */
export function findUsersFile({ server: { users } }: Config): UsersFile | undefined {
  return users === undefined ? undefined : openUsersFile(users);
}

/** After so long without a request, somebody has to sign in again. */
const idleMs = 30 * 60_000;

/** Who may use the pages of `serve`. */
export function openAccess(config: Config): Access {
  const { host, hosts, publicUrl, signIn } = config.server;
  return createAccess({
    users: findUsersFile(config),
    // Host names or a public URL imply a proxy in front, through which others connect.
    isLocal: isLoopbackAddress(host) && hosts.length === 0 && publicUrl === undefined,
    singleSignOn: signIn,
    idleMs,
    clock,
  });
}
