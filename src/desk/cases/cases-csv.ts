import * as z from 'zod';
import { caseToCells, listCaseColumns, searchCases, withKept } from '../../cases/shown-cases.js';
import { renderCsv } from '../../text/csv.js';
import { type Download, defineDownload } from '../page.js';
import { filterFields, toSearch } from './case-filter.js';
import { whatIsShown } from './cases-page.js';
import type { CaseDeskParts } from './cases-routes.js';

/** The list as `cases --csv` writes it. Without the permission see-bookings, it has no notes and no kept columns. */
export function createCasesCsv(parts: CaseDeskParts): Download {
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
      const search = toSearch(filter, { today, findsReferences });
      const { cases } = await searchCases(parts.ledger, search, visit.now);
      const all = await withKept(parts.ledger, cases, labels, today);
      const seesNotes = visit.may('see-bookings');
      const rows = all.map((item) => caseToCells(seesNotes ? item : { ...item, note: undefined }));
      return {
        name: `cases-${today}.csv`,
        records: rows.length,
        content: [renderCsv(listCaseColumns(labels), rows)],
      };
    },
  });
}
