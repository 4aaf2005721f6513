import type { Access } from '../src/access/access.js';
import type { Config } from '../src/config/load.js';
import { createDesk } from '../src/desk/desk.js';
import { admitHookCallers } from '../src/desk/hook-callers.js';
import { readAssets } from '../src/desk/routing/assets.js';
import type { NoticeLedger } from '../src/notifications/notice-store.js';
import type { CallerSettings } from '../src/server/caller.js';
import { clock } from './clock.js';
import type { Terminal } from './terminal.js';
import { readVersion } from './version.js';

/** They ship with the package. */
const assetsFolder = new URL('../src/desk/assets/', import.meta.url);

/** The pages of `serve`, over its ledger. */
export async function composeDesk(
  { timezone, hook }: Config,
  ledger: NoticeLedger,
  { log, signal }: Pick<Terminal, 'log' | 'signal'>,
) {
  const shown: Access = {
    hasUsers: async () => false,
    identify: async () => ({
      visitor: { name: 'anybody', role: 'viewer' },
      signedInBy: 'loopback',
      csrfToken: undefined,
    }),
    signIn: async () => ({ kind: 'wrong' }),
    signOut: async () => '',
    isForged: () => true,
  };
  const access = admitHookCallers(shown, callersOf(hook), clock);
  return createDesk(
    { ledger, timezone, version: readVersion() },
    {
      access,
      assets: await readAssets(assetsFolder, ''),
      record: (action) => ledger.audit.record(action),
      clock,
      timezone,
      signal,
      log,
    },
  );
}

/** Who may call the hook. */
export function callersOf({ secret, token, toleranceSeconds }: Config['hook']): CallerSettings {
  return { secrets: [secret ?? []].flat(), tokens: [token ?? []].flat(), toleranceSeconds };
}
