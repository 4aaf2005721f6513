import * as z from 'zod';
import { caseToCells, listCaseColumns } from '../../cases/case-json.js';
import { readWindow } from '../../cases/find-cases.js';
import type { SearchCases } from '../../cases/search-cases.js';
import { renderCsv } from '../../text/csv.js';
import { type Download, defineDownload } from '../routing/route.js';
import { filterFields, toSearch } from './case-filter.js';
import { whatIsShown } from './cases-page.js';
import type { CaseDeskParts } from './cases-routes.js';

/** The list as `cases --csv` writes it. Without the permission see-bookings, it has no notes and no kept columns. */
export function createCasesCsv(parts: CaseDeskParts, search: SearchCases): Download {
  return defineDownload({
    path: '/cases.csv',
    permission: 'look',
    input: z.object(filterFields),
    contentType: 'text/csv; charset=utf-8',
    audit: ({ state }, { records }) => ({
      action: 'cases',
      details: { found: records, state, csv: true },
    }),
    async open(filter, visit) {
      const { today, labels, findsReferences } = whatIsShown(parts, visit);
      const { cases } = await search(toSearch(filter, { today, findsReferences }));
      const window = { from: 0, to: cases.length, labels, today };
      const all = await readWindow(parts.ledger, parts.hotels, cases, window, () => visit.now);
      const seesNotes = visit.may('see-bookings');
      const rows = all.map((item) => caseToCells(seesNotes ? item : withoutNote(item)));
      return {
        name: `cases-${today}.csv`,
        records: rows.length,
        content: [renderCsv(listCaseColumns(labels), rows)],
      };
    },
  });
}

function withoutNote<Item extends { readonly note?: string }>({
  note: _,
  ...item
}: Item): Omit<Item, 'note'> {
  return item;
}
