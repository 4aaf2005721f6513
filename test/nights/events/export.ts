import { requestExport } from '../../../src/mappings/export/fetch-export.js';
import type { EventKind, OfDay } from './event.js';

/** Somebody requests an export of the mappings, or the one that was requested comes, after which somebody may request another one. */
export interface Export extends OfDay {
  readonly kind: 'export';
  readonly what: (typeof forms)[number];
}

const forms = ['requested', 'arrives', 'requested again'] as const;
const hourMs = 3_600_000;

export const exported: EventKind<Export> = {
  weights: { following: 1 },
  kinds: forms.map((what) => `export ${what}`),
  make: ({ day }, { pick }) => ({ kind: 'export', day, what: pick(forms) }),
  kindsOf: ({ what }) => [`export ${what}`],
  tell: ({ what }) => `an export of the mappings ${what === 'arrives' ? '' : 'is '}${what}`,

  async live({ what }, { day, journal, ledger, app, clock, reach }) {
    const { exports: log } = ledger;
    if (what !== 'requested') {
      const fetchedAt = clock();
      await log.rememberFetched({ id: `export ${fetchedAt}`, fetchedAt, providers: [], files: [] });
      journal.push({ kind: 'export', day, what: 'arrives', at: fetchedAt });
      reach(fetchedAt + hourMs);
    }
    if (what !== 'arrives') {
      journal.push({ kind: 'export', day, what: 'requested', at: clock() });
      const service = { exportMappingsFile: async () => ({}) };
      const wanted = { emailId: 'ops@example.com', providers: [] };
      await requestExport(wanted, { service, log, clock } as never, app.signal);
    }
    return undefined;
  },
};
