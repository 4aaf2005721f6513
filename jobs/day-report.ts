import { businessDayAt } from '../src/booking/business-day.js';
import type { ReadOnlyCaseLedger } from '../src/cases/case-store.js';
import { type ListedCase, readWindow } from '../src/cases/find-cases.js';
import { rememberHotels } from '../src/cases/remembered-hotels.js';
import type { Config } from '../src/config/load.js';
import type { DayReport, ReportedCase } from '../src/report/day-report.js';
import { gatherReport } from '../src/report/gather-report.js';
import { renderHtml } from '../src/report/render-html.js';
import { listSections, withoutStays } from '../src/report/sections.js';
import type { WriteCommand } from '../src/text/shell.js';
import { clock } from './clock.js';

/** How a day went, with the cases that are open now, and those that were never resolved. */
export async function gatherDayReport(
  { timezone, volume }: Config,
  ledger: ReadOnlyCaseLedger,
  day: string,
): Promise<DayReport> {
  const today = businessDayAt(new Date(clock()), timezone).iso;
  const listCases = async (which: 'open' | 'left', limit: number) => {
    const open = await ledger.cases.listOutlines({ today, left: which === 'left' });
    const window = { from: 0, to: limit, labels: [], today };
    const first = await readWindow(ledger, rememberHotels(ledger.hotels), open, window, clock);
    return { count: open.length, first: first.map(toReported) };
  };
  return gatherReport(day, { ledger, listCases, volume, timezone, clock });
}

/**
 * The page of a day for places that erasing a guest does not reach, such as the archive and mailboxes: it names providers and
 * hotels, but no booking, check-in or guest.
 */
export async function renderDayReport(
  config: Config,
  ledger: ReadOnlyCaseLedger,
  day: string,
  command: WriteCommand,
): Promise<{ readonly headline: string; readonly page: Buffer }> {
  const { timezone } = config;
  const report = await gatherDayReport(config, ledger, day);
  const page = renderHtml(report, withoutStays(listSections(report, { timezone, command })), timezone);
  return { headline: report.headline, page: Buffer.from(page) };
}

function toReported(item: ListedCase): ReportedCase {
  const { id, state, openBookings, providerName, providerHotelId, serviceId, copyServiceId, copy, hotels } =
    item;
  return {
    ...{ id, state, openBookings, providerName, providerHotelId, serviceId, copyServiceId, copy },
    leftBookings: item.leftBookings,
    firstCheckIn: item.hasUnknownCheckIn && item.inHouse === 0 ? null : (item.firstCheckIn ?? null),
    ...{ inHouse: item.inHouse, inHouseUntil: item.inHouseUntil ?? null },
    bookedHotel: hotels.bookedHotel?.name ?? null,
    copyHotel: hotels.copyHotel?.name ?? null,
    distanceKm: hotels.distanceKm ?? null,
  };
}
