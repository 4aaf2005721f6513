import { type Access, createAccess } from '../src/access/access.js';
import { openUsersFile } from '../src/access/users-file.js';
import type { Config } from '../src/config/load.js';
import { isLoopbackAddress } from '../src/http/url.js';
import { clock } from './clock.js';

/** Who may use the pages of `serve`. */
export function openAccess({ server: { host, users, signIn, idleMinutes } }: Config): Access {
  return createAccess({
    users: users === undefined ? undefined : openUsersFile(users),
    isLocal: isLoopbackAddress(host),
    singleSignOn: signIn,
    idleMs: idleMinutes * 60_000,
    clock,
  });
}
