import type { Access } from '../src/access/access.js';
import type { Config } from '../src/config/load.js';
import { createDesk } from '../src/desk/desk.js';
import { readAssets } from '../src/desk/routing/assets.js';
import type { NoticeLedger } from '../src/notifications/notice-store.js';
import { clock } from './clock.js';
import type { Terminal } from './terminal.js';
import { readVersion } from './version.js';

/** They ship with the package. */
const assetsFolder = new URL('../src/desk/assets/', import.meta.url);

/** The pages of `serve`, over its ledger. */
export async function composeDesk(
  { timezone }: Config,
  ledger: NoticeLedger,
  { log, signal }: Pick<Terminal, 'log' | 'signal'>,
) {
  const access: Access = {
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
