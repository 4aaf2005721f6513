import * as z from 'zod';
import { businessDayAt } from '../../booking/business-day.js';
import type { DayOverview } from '../../review/ledger.js';
import { html } from '../../text/html.js';
import { definePage, type Page } from '../routing/route.js';

/** The calendar of days. */
export function createDaysPage({ ledger }: { readonly ledger: DayOverview }): Page {
  return definePage({
    path: '/',
    permission: 'look',
    summary: 'Twelve months of days',
    input: z.object({}),
    data: z.object({ lastGoodDay: z.string().nullable() }),
    async read(_, { now, timezone }) {
      const { lastGoodDay = null } = await ledger.summarise(businessDayAt(new Date(now), timezone));
      return { lastGoodDay };
    },
    render: ({ lastGoodDay }) => ({
      title: 'Days',
      content: html`<p>Last good day: ${lastGoodDay ?? 'none yet'}</p>`,
      refreshSeconds: 30,
    }),
  });
}
