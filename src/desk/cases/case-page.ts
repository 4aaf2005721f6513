import * as z from 'zod';
import { showCase, shownCaseToJson } from '../../cases/shown-cases.js';
import type { HeldCase } from '../../ledger/case.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { mappingToJson } from '../../ledger/mappings.js';
import { HttpError } from '../../server/http-error.js';
import { pageField } from '../fields.js';
import { type DeskVisit, definePage, type Page } from '../page.js';
import { whatIsShown, withoutNotes } from './cases-page.js';
import type { CaseDeskParts } from './cases-routes.js';
import { renderCase } from './render-case.js';

const bookingsPerPage = 100;
const entriesShown = 100;

/** A case: both hotels, how the mapping moved, its bookings, and who did what. */
export function createCasePage(parts: CaseDeskParts): Page {
  return definePage({
    path: '/cases/:id',
    permission: 'look',
    input: z.object({
      id: z.string(),
      page: pageField,
    }),
    json: 'if-asked',
    read: (input, visit) => readCasePage(parts, input, visit),
    audit: ({ id, bookings }) => ({
      action: 'case',
      subject: `case ${id}`,
      details: { found: bookings },
      revealsNames: false,
    }),
    render: (data, visit) => renderCase(data, visit, parts.keptColumns),
  });
}

async function readCasePage(
  parts: CaseDeskParts,
  { id, page: asked }: { readonly id: string; readonly page: number },
  visit: DeskVisit,
) {
  const { ledger } = parts;
  const { today, labels } = whatIsShown(parts, visit);
  const number = numberOf(id);
  const item = number && (await showCase(ledger, number, { today, now: visit.now, labels }));
  if (!item) throw notFound();
  const found = await ledger.mappings.find(item);
  const history = item.history.slice(-entriesShown);
  const report = withoutNotes(shownCaseToJson({ ...item, history }), visit);
  const pages = Math.max(1, Math.ceil(item.bookings / bookingsPerPage));
  const page = Math.min(asked, pages);
  const bookings = report.bookingList.slice((page - 1) * bookingsPerPage, page * bookingsPerPage);
  return {
    ...report,
    bookingList: visit.may('see-bookings') ? bookings : bookings.map(withoutReference),
    ...{ page, pages },
    /** How many the history has; only the newest are here. */
    entries: item.history.length,
    mapping: found ? mappingToJson(found.mapping, found.moves.slice(-entriesShown)) : null,
    /** Whether the content of hotels was ever loaded. */
    hasHotels: (await ledger.hotels.latestLoad()) !== undefined,
  };
}

export type ShownCaseData = Awaited<ReturnType<typeof readCasePage>>;

function withoutReference<
  Booking extends { readonly reference: string | null; readonly note?: string | null },
>(booking: Booking): Booking {
  return { ...booking, reference: null, ...('note' in booking && { note: null }) };
}

/** @throws HttpError 404 */
export async function findShownCase(cases: ReadOnlyLedger['cases'], id: string): Promise<HeldCase> {
  const number = numberOf(id);
  const held = number && (await cases.find(number));
  if (!held) throw notFound();
  return held;
}

function numberOf(id: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : undefined;
}

function notFound(): HttpError {
  return new HttpError(404, 'there is no case of that number');
}
