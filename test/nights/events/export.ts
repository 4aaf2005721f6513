import { requestExport } from '../../../src/mappings/export/request-export.js';
import type { EventKind, OfDay } from './event.js';

/** Somebody requests an export of the mappings, or the one that was requested comes. */
export interface Export extends OfDay {
  readonly kind: 'export';
  readonly what: 'requested' | 'arrives';
}

export const exported: EventKind<Export> = {
  weights: { following: 1 },
  kinds: ['export requested', 'export arrives'],
  make: ({ day }, { pick }) => ({ kind: 'export', day, what: pick(['requested', 'arrives']) }),
  kindsOf: ({ what }) => [`export ${what}`],
  tell: ({ what }) => (what === 'requested' ? 'somebody requests an export' : 'the export arrives'),

  async live({ what }, { day, journal, ledger, app, clock }) {
    const { exports: log } = ledger;
    const at = clock();
    if (what === 'requested') {
      const service = { exportMappingsFile: async () => ({}) };
      const wanted = { emailId: 'ops@example.com', providers: [] };
      await requestExport(wanted, { service, log, clock } as never, app.signal);
    } else await log.rememberFetched({ id: `export ${at}`, fetchedAt: at, providers: [], files: [] });
    journal.push({ kind: 'export', day, what, at });
    return undefined;
  },
};
