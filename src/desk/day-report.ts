import { showInLine } from '../base/foreign-text.js';
import {
  formatCount,
  formatCountOf,
  formatDuration,
  formatKilometres,
  formatLocalInstant,
} from '../base/format.js';
import { Html, html } from '../base/html.js';
import type { WriteCommand } from '../base/shell.js';
import { businessDayAt } from '../booking/business-day.js';
import { describeCheckIn, stayOf } from '../booking/stay.js';
import { findCases, type ListedCase, nameCheckIn } from '../cases/shown-cases.js';
import type { Config } from '../config/load.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { explainCopies, nameCopy } from '../mappings/copied-hotels.js';
import { readDescription, readReport } from '../review/day/report.js';
import { type ListedBooking, listBookings } from '../review/lists/listing.js';
import type { Judgement } from '../rules/describe-day.js';
import { adviseInLines, type Finding, type Note } from '../rules/finding.js';
import { chooseCompared, daysToCompare, listProviderVolumes, usualOf } from '../rules/volume.js';
import { renderTable, showDay, showInstant } from './parts.js';

/** Of a day: more than any has. */
export const runsRead = 1_000;
/** Runs shown; a day can have dozens of runs of today without news. */
const runsShown = 20;
/** Bookings and cases shown; the commands list all. */
const listed = 100;
/** The others are in the JSON. */
const providersShown = 20;

/**
 * How a day went: `report` as `report D --json` prints it and as pages show it, with the cases that are open now, and those that were never
 * resolved. It holds references and stays of affected bookings, and no guest's name; null stands for unknown.
 */
export async function gatherDayReport(
  { timezone, volume }: Config,
  ledger: ReadOnlyLedger,
  day: string,
  now: number,
) {
  const today = businessDayAt(new Date(now), timezone).iso;
  const runs = await ledger.runs.list({ day, limit: runsRead });
  const shown = runs.slice(0, runsShown);
  const described = await readDescription(ledger, day, runs, { now, timezone });
  const { outcome, canary, judgement, headline, state, findings } = described;
  const { knowledge, affected, unanswered, posted, latest: newest, sent } = outcome;
  const bookings = await listBookings(ledger, 'affected', sent, { today, clock: () => now });
  const first: ReturnType<typeof outlineBooking>[] = [];
  for await (const some of bookings.read({ from: 0, to: listed })) first.push(...some.map(outlineBooking));

  async function listCases(left: boolean) {
    const found = await findCases(ledger, { today, left }, now);
    return { count: found.length, first: found.slice(0, listed).map(outlineCase) };
  }

  const report = {
    /** YYYY-MM-DD */
    day,
    /** ISO 8601, UTC */
    writtenAt: new Date(now).toISOString(),
    ...{ judgement, headline },
    /** Newest first. */
    runs: await Promise.all(shown.map((run) => readReport(ledger, run, { now, timezone }))),
    /** Of all runs that sent the day. */
    verdicts: { knowledge, affected, unanswered, posted },
    /** The newest of the day. */
    canary: canary ?? null,
    /** Of the newest run. */
    rejects: newest ? await ledger.rejects.count(newest.id) : [],
    warnings: newest ? await ledger.rejects.countWarnings(newest.id) : [],
    volume: await compareVolume(day, ledger, volume),
    /** Of the newest run, in the order in which they began. */
    steps: newest ? await ledger.steps.listTimes(newest.id) : [],
    /** Guests in house and then the nearest check-in first. */
    affected: { count: bookings.count, first },
    /** All cases with an open booking, of any day. */
    cases: await listCases(false),
    /** All cases with a booking that nobody resolved before the stay was over. */
    left: await listCases(true),
  };
  return { report, state, findings };
}

export type DayReport = Awaited<ReturnType<typeof gatherDayReport>>['report'];

async function compareVolume(day: string, ledger: ReadOnlyLedger, settings: Config['volume']) {
  const counted = await ledger.runs.findVolume(day);
  const good = await ledger.runs.listVolumes(daysToCompare(day, settings.exceptions));
  const { days: earlier, isOfWeekday } = chooseCompared(day, good);
  return {
    /** Null where the day was not counted. */
    accepted: counted?.accepted ?? null,
    /** Null if no day to compare with is known. */
    usual: usualOf(earlier.map(({ accepted }) => accepted)),
    /** The days below are of the same weekday. */
    isOfWeekday,
    /** The days that are compared with, oldest first. */
    compared: earlier
      .map(({ day: compared, accepted }) => ({ day: compared, accepted }))
      .sort((one, other) => (one.day < other.day ? -1 : 1)),
    /** Largest first. */
    providers: (counted ? listProviderVolumes(counted, earlier) : []).sort(
      (one, other) => (other.usual ?? other.accepted) - (one.usual ?? one.accepted),
    ),
  };
}

/** What a list shows of an affected booking, without the guest's name. */
export function outlineBooking(booking: ListedBooking) {
  const { fields } = booking;
  const text = (name: string) => (fields[name] === undefined ? null : String(fields[name]));
  return {
    reference: text('BookingReferenceId'),
    checkIn: text('CheckInDate'),
    checkOut: text('CheckOutDate'),
    providerName: text('ProviderName'),
    providerHotelId: text('ProviderHotelId'),
    /** As booked. */
    serviceId: Number(fields.ServiceId),
    ...outlineHotels(booking),
  };
}

/** What a list shows of a case. */
export function outlineCase(item: ListedCase) {
  const { id, state, openBookings, leftBookings, inHouse, inHouseUntil = null } = item;
  const { providerName, providerHotelId, serviceId, hasUnknownCheckIn, firstCheckIn = null } = item;
  return {
    ...{ id, state, openBookings, leftBookings, providerName, providerHotelId, serviceId },
    firstCheckIn: hasUnknownCheckIn && inHouse === 0 ? null : firstCheckIn,
    /** Open bookings of guests who are in house, and when the last of them checks out. */
    ...{ inHouse, inHouseUntil },
    ...outlineHotels(item),
  };
}

function outlineHotels({ copyServiceId, copy, hotels }: ListedBooking | ListedCase) {
  return {
    /** The master hotel that the local copy of the mappings has now. */
    copyServiceId,
    copy,
    bookedHotel: hotels.bookedHotel?.name ?? null,
    copyHotel: hotels.copyHotel?.name ?? null,
    distanceKm: hotels.distanceKm ?? null,
  };
}

/** A row of a table, by the names of its columns. Numbers are written with commas, so an id is a text. */
export type Cells = Readonly<Record<string, string | number>>;

export type Section = ReturnType<typeof listSections>[number];

/**
 * What the page and the terminal show, in this order, without empty sections. Texts are plain: each makes them safe where it writes
 * them.
 */
export function listSections(report: DayReport, findings: readonly Finding[], timezone: string) {
  const { day, runs, left, volume, rejects, steps, affected, cases } = report;
  const today = businessDayAt(new Date(report.writtenAt), timezone).iso;
  const counted = volume.accepted === null ? [] : [...volume.compared, { day, accepted: volume.accepted }];
  const sections = [
    toSection('Findings', [], findings),
    toSection(
      'Runs',
      runs.map((run) => {
        const { accepted, delivered, refused, rejected, pending } = run.counts;
        return {
          run: run.runId,
          by: `${run.delivery}, ${run.trigger}`,
          state: run.state,
          started: formatLocalInstant(Date.parse(run.startedAt), timezone),
          took: formatDuration(run.durationMs),
          ...{ accepted, delivered, refused, rejected, pending },
        };
      }),
      runs.flatMap(({ runId, error }) => (error ? { words: `${runId}: ${error.message}` } : [])),
    ),
    toSection(
      'Affected bookings',
      affected.first.map((item) => {
        const sent = { checkInDate: item.checkIn ?? undefined, checkOutDate: item.checkOut ?? undefined };
        const stay = stayOf(sent, day);
        const booking = item.reference ?? '-';
        return { 'check-in': describeCheckIn(stay, today), booking, ...toHotelCells(item) };
      }),
      [...adviseMore(affected, `affected ${day} --csv FILE`), ...explainCopy(affected.first)],
    ),
    toSection(
      'Open cases',
      cases.first.map((item) => ({
        'check-in': nameCheckIn(item),
        ...{ case: String(item.id), mapping: item.state, open: item.openBookings },
        ...toHotelCells(item),
      })),
      [{ words: describeOpen(cases) }, ...adviseMore(cases, 'cases --csv FILE'), ...explainCopy(cases.first)],
    ),
    toSection(
      'Never resolved before the guests left',
      left.first.map((item) => ({
        ...{ case: String(item.id), mapping: item.state, left: item.leftBookings },
        ...toHotelCells(item),
      })),
      left.count > 0
        ? [{ words: formatCountOf(left.count, 'case'), advice: [['to list them', 'cases --left']] }]
        : [],
    ),
    toSection(
      'Bookings',
      counted.map((one) => ({
        day: one.day === day ? `${day}, this day` : one.day,
        bookings: one.accepted,
      })),
      describeUsual(volume),
    ),
    toSection(
      'Providers, and what is usual',
      volume.providers.slice(0, providersShown).map(({ provider, accepted: bookings, usual }) => ({
        ...{ provider, bookings, usual: usual ?? '-' },
      })),
      volume.providers.length > providersShown
        ? [{ words: `the ${providersShown} largest of ${formatCount(volume.providers.length)}` }]
        : [],
    ),
    toSection(
      'Rejected, by reason',
      rejects.map(({ reason, count: records }) => ({ reason, records })),
      rejects.length > 0
        ? [{ words: 'of the newest run', advice: [['all of them', `rejected ${day} --csv FILE`]] }]
        : [],
    ),
    toSection(
      'Steps of the newest run',
      steps.map(({ kind: step, steps: count, attempts, startedAt, endedAt }) => ({
        ...{ step, count, attempts, time: formatDuration(endedAt - startedAt) },
      })),
    ),
  ];
  return sections.filter(({ notes, rows }) => notes.length + rows.length > 0);
}

function toSection(title: string, rows: readonly Cells[], notes: readonly Note[] = []) {
  return { title, rows, notes };
}

function describeOpen({ count, first }: DayReport['cases']): string {
  if (count === 0) return 'none';
  const bookings = first.reduce((sum, { openBookings }) => sum + openBookings, 0);
  const open = count > first.length ? '' : ` with ${formatCountOf(bookings, 'open booking')}`;
  return `${formatCountOf(count, 'case')}${open}`;
}

/** A list that is cut, and how to have all of it. */
function adviseMore({ count, first }: DayReport['affected' | 'cases'], list: string): Note[] {
  if (count <= first.length) return [];
  return [{ words: `the first ${formatCount(first.length)} are below`, advice: [['all of them', list]] }];
}

function explainCopy(listed: DayReport['affected' | 'cases']['first']): Note[] {
  return explainCopies(listed).map((words) => ({ words }));
}

function toHotelCells(item: DayReport['affected' | 'cases']['first'][number]): Cells {
  const { copyServiceId, serviceId, distanceKm } = item;
  const isSame = copyServiceId === serviceId;
  return {
    provider: item.providerName ?? '-',
    'hotel id': item.providerHotelId ?? '-',
    booked: String(serviceId),
    'booked hotel': item.bookedHotel ?? '-',
    copy: nameCopy(item, 'none'),
    'hotel of the copy': isSame ? 'the same' : (item.copyHotel ?? '-'),
    distance: isSame || distanceKm === null ? '-' : formatKilometres(distanceKm),
  };
}

function describeUsual({ accepted, usual, isOfWeekday }: DayReport['volume']): Note[] {
  if (accepted === null) return [];
  const usually =
    usual === null ? '' : `, usually ${formatCount(usual)}${isOfWeekday ? ' on this weekday' : ''}`;
  return [{ words: `${formatCountOf(accepted, 'booking')}${usually}` }];
}

/**
 * The page of a day for places that erasing a guest does not reach, such as the archive and mailboxes: it names providers and
 * hotels, but no booking, check-in or guest.
 */
export async function renderSavedReport(
  { config, command }: { readonly config: Config; readonly command: WriteCommand },
  ledger: ReadOnlyLedger,
  day: string,
  now: number,
) {
  const { report, findings } = await gatherDayReport(config, ledger, day, now);
  const { timezone } = config;
  const sections = listSections(report, findings, timezone).map(withoutStay);
  return { headline: report.headline, page: renderPage(report, sections, { timezone, command }) };
}

/** What a page that no erasure reaches may show: hotels and numbers, but nobody's stay. */
function withoutStay({ title, notes, rows }: Section): Section {
  if (!rows.some((cells) => 'check-in' in cells)) return { title, notes, rows };
  return {
    title,
    notes: [...notes, { words: 'bookings and their check-ins are left out of this page' }],
    rows: rows.map(({ 'check-in': _, booking: __, ...cells }) => cells),
  };
}

/** The report as one page without a script: nothing in it is loaded from anywhere. */
export function renderPage(
  report: DayReport,
  sections: readonly Section[],
  { timezone, command }: { readonly timezone: string; readonly command: WriteCommand },
): string {
  const { day, headline, judgement, writtenAt } = report;
  const title = `Hotel review of ${showDay(day)}`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(style)}</style></head>
<body><header class="${judgement}"><h1>${title}</h1>
<p><strong>${words[judgement]}</strong> ${showInLine(headline)}</p></header>
<main>${sections.map((section) => renderSection(section, command))}</main>
<footer>Written ${showInstant(writtenAt, { timezone })}, ${timezone}.</footer></body></html>
`.markup;
}

/** With a sign beside the colour, for those who cannot see it. */
const words: Readonly<Record<Judgement, string>> = {
  good: '✓ Good.',
  sent: '➤ Sent.',
  attention: '! Needs attention.',
  unfinished: '… Not finished.',
};

/** All rows of a table have the same columns, those of the first. */
function renderSection({ title, notes, rows }: Section, command: WriteCommand): Html {
  const columns = Object.keys(rows[0] ?? {}).map((name) => [name, (cells: Cells) => showCell(cells, name)]);
  return html`<section><h2>${title}</h2>
${notes.map(({ words, advice = [] }) => html`<p>${[words, ...adviseInLines(advice, command)].map(showInLine).join('. ')}</p>`)}${rows.length > 0 && renderTable(rows, Object.fromEntries(columns))}</section>
`;
}

const columnsOfDates = ['check-in', 'day', 'started'];

/** Pages write dates for people; a terminal, as its commands take them. */
function showCell(cells: Cells, name: string) {
  const cell = cells[name];
  if (typeof cell !== 'string' || !columnsOfDates.includes(name)) return cell;
  return cell.replace(/\d{4}-\d\d-\d\d/g, (iso) => showDay(iso));
}

const style = `
:root { color-scheme: light dark; --text: #1d2430; --faint: #5c6675; --ground: #fff; --line: #dde1e7;
  --good: #17693a; --bad: #b3261e; --busy: #1d5fa8; --wait: #8a5a00; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ee; --faint: #9aa4b2; --ground: #14171c; --line: #333a45;
    --good: #6cc78f; --bad: #ff8a80; --busy: #84b9f5; --wait: #e5b567; }
}
body { margin: 0 auto; padding: 1.25rem; max-width: 72rem; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
header { --sign: var(--bad); padding: .6rem 1rem; border-left: 6px solid var(--sign); } header strong { color: var(--sign); }
header h1 { margin: 0; font-size: 1.4rem; } header p { margin: .3rem 0 0; }
.good { --sign: var(--good); } .sent { --sign: var(--busy); } .unfinished { --sign: var(--wait); }
h2 { margin: 1.8rem 0 .4rem; font-size: 1.05rem; } p { margin: .2rem 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { margin-top: .5rem; border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem .3rem 0; text-align: left; vertical-align: baseline; border-bottom: 1px solid var(--line); }
thead th { color: var(--faint); } .number { text-align: right; } th { font-weight: 600; } th, td:nth-child(-n+5) { white-space: nowrap; }
footer { margin-top: 2rem; color: var(--faint); font-size: .85rem; }
@media print { body { max-width: none; padding: 0; } section { break-inside: avoid-page; } }
`;
