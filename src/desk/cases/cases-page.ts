import * as z from 'zod';
import { businessDayAt } from '../../booking/business-day.js';
import { caseToJson, searchCases, withKept } from '../../cases/shown-cases.js';
import { pageField } from '../fields.js';
import { type DeskVisit, definePage, type Page } from '../page.js';
import { filterFields, type ShownFilter, toFilterData, toSearch } from './case-filter.js';
import type { CaseDeskParts } from './cases-routes.js';
import { casesPerPage, renderCases } from './render-cases.js';

/** The list of cases, guests in house first. */
export function createCasesPage(parts: CaseDeskParts): Page {
  return definePage({
    path: '/cases',
    permission: 'look',
    input: z.object({
      ...filterFields,
      page: pageField,
    }),
    json: 'if-asked',
    read: (input, visit) => readCases(parts, input, visit),
    // Kept columns come from the most urgent booking; without them, the list reveals no single booking.
    audit: ({ cases, total, filter }) =>
      cases.some(({ kept }) => kept)
        ? {
            action: 'cases',
            details: { found: total, ...(filter.state !== null && { state: filter.state }) },
            revealsNames: false,
          }
        : undefined,
    render: (data, visit) => renderCases(data, visit, parts.keptColumns),
  });
}

async function readCases(
  { ledger, ...parts }: CaseDeskParts,
  { page: asked, ...filter }: ShownFilter & { readonly page: number },
  visit: DeskVisit,
) {
  const { today, labels, findsReferences } = whatIsShown(parts, visit);
  const search = toSearch(filter, { today, findsReferences });
  const { cases, choices } = await searchCases(ledger, search, visit.now);
  const pages = Math.max(1, Math.ceil(cases.length / casesPerPage));
  const page = Math.min(asked, pages);
  const from = (page - 1) * casesPerPage;
  const shown = await withKept(ledger, cases.slice(from, from + casesPerPage), labels, today);
  return {
    /** Guests in house first, then the nearest check-in. */
    cases: shown.map((item) => withoutNotes(caseToJson(item), visit)),
    /** On all pages. */
    total: cases.length,
    openBookings: cases.reduce((sum, { openBookings }) => sum + openBookings, 0),
    ...{ page, pages, filter: toFilterData(filter), choices },
  };
}

export type CasesData = Awaited<ReturnType<typeof readCases>>;

/** The parts of a case that a visitor may see. */
export function whatIsShown({ keptColumns }: Pick<CaseDeskParts, 'keptColumns'>, visit: DeskVisit) {
  const seesBookings = visit.may('see-bookings');
  return {
    today: businessDayAt(new Date(visit.now), visit.timezone).iso,
    labels: seesBookings ? keptColumns : [],
    findsReferences: seesBookings,
  };
}

/** People may name bookings in a note. */
export function withoutNotes<Report extends { readonly note: string | null }>(
  report: Report,
  { may }: Pick<DeskVisit, 'may'>,
): Report {
  return may('see-bookings') ? report : { ...report, note: null };
}
