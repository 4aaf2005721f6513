import { businessDayAt } from '../../booking/business-day.js';
import { describeCheckIn } from '../../booking/stay.js';
import { nameCheckIn } from '../../cases/shown-cases.js';
import type { Bar } from '../../charts/bars.js';
import { explainCopies, nameCopy } from '../../mappings/copied-hotels.js';
import { describeCanary } from '../../review/canary.js';
import {
  formatCount,
  formatCountOf,
  formatDuration,
  formatKilometres,
  formatLocalInstant,
} from '../../text/format.js';
import type { WriteCommand } from '../../text/shell.js';
import type { DayReport } from './day-report.js';

/** What the page and the terminal show, in this order. Texts are plain: each makes them safe where it writes them. */
export interface Section {
  readonly title: string;
  readonly notes: readonly string[];
  readonly bars?: readonly Bar[];
  readonly table?: SectionTable;
}

export interface SectionTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns for which a terminal has no room. */
  readonly wide: readonly string[];
  /** Columns about the stays of single guests. */
  readonly stays?: readonly string[];
}

/** Providers shown; the others are in the JSON. */
const providersShown = 20;

interface SectionOptions {
  readonly timezone: string;
  readonly command: WriteCommand;
}

export function listSections(report: DayReport, options: SectionOptions): Section[] {
  return [
    describeRuns(report, options),
    describeVerdicts(report, options),
    describeCases(report, options),
    describeLeft(report, options),
    describeBookings(report),
    describeProviders(report),
    describeRejects(report, options),
    describeSteps(report),
  ].filter(({ notes, bars = [], table }) => notes.length + bars.length + (table?.rows.length ?? 0) > 0);
}

/** What a page that no erasure reaches may show: hotels and numbers, but nobody's stay. */
export function withoutStays(sections: readonly Section[]): Section[] {
  return sections.map((section) => {
    const { table, notes } = section;
    if (!table?.stays || table.rows.length === 0) return section;
    const { head, rows, stays } = table;
    const keep = (cells: readonly string[]) => cells.filter((_, index) => !stays.includes(head[index] ?? ''));
    return {
      ...section,
      notes: [...notes, 'bookings and their check-ins are left out of this page'],
      table: { ...table, head: keep(head), rows: rows.map(keep) },
    };
  });
}

const countsShown = ['accepted', 'delivered', 'refused', 'rejected', 'pending'] as const;

function describeRuns({ runs }: DayReport, { timezone }: SectionOptions): Section {
  return {
    title: 'Runs',
    notes: runs.flatMap(({ runId, error }) => (error ? [`${runId}: ${error.message}`] : [])),
    table: {
      head: ['run', 'by', 'state', 'started', 'took', ...countsShown],
      rows: runs.map((run) => [
        run.runId,
        `${run.delivery}, ${run.trigger}`,
        run.state,
        formatLocalInstant(Date.parse(run.startedAt), timezone),
        formatDuration(run.durationMs),
        ...countsShown.map((name) => formatCount(run.counts[name])),
      ]),
      wide: ['by', 'started', 'refused', 'pending'],
    },
  };
}

function describeVerdicts(report: DayReport, options: SectionOptions): Section {
  const { day, verdicts, affected, canary } = report;
  const { command, timezone } = options;
  const today = businessDayAt(new Date(report.writtenAt), timezone).iso;
  const describeStay = ({ checkIn, checkOut }: (typeof affected.first)[number]) =>
    describeCheckIn({ checkIn: checkIn ?? undefined, checkOut: checkOut ?? undefined }, today);
  const { knowledge, unanswered, posted } = verdicts;
  const known = knowledge === 'judged';
  return {
    title: 'Verdicts',
    notes: keepTexts([
      known && `${formatCountOf(affected.count, 'booking')} on an incorrect mapping`,
      knowledge === 'awaiting-result' && 'the result has not arrived yet: no verdict is known',
      knowledge === 'by-email' && 'verdicts come by e-mail only: none is known to be correct',
      known &&
        unanswered &&
        `${formatCountOf(unanswered, 'booking')} without a verdict: ${command(`affected ${day} --unanswered`)}`,
      known &&
        posted > 0 &&
        `${formatCountOf(posted, 'booking')} went by body: their verdicts come by e-mail only`,
      canary && describeCanary(canary, options),
      adviseMore(affected, command(`affected ${day} --csv FILE`)),
      ...explainCopies(affected.first),
    ]),
    table: {
      head: [...bookingColumns, ...hotelColumns],
      rows: affected.first.map((item) => [describeStay(item), item.reference ?? '-', ...toHotelCells(item)]),
      wide: wideColumns,
      stays: bookingColumns,
    },
  };
}

function describeCases({ cases }: DayReport, { command }: SectionOptions): Section {
  const bookings = cases.first.reduce((sum, { openBookings }) => sum + openBookings, 0);
  return {
    title: 'Open cases',
    notes:
      cases.count === 0
        ? ['none']
        : keepTexts([
            cases.count > cases.first.length
              ? formatCountOf(cases.count, 'case')
              : `${formatCountOf(cases.count, 'case')} with ${formatCountOf(bookings, 'open booking')}`,
            adviseMore(cases, command('cases --csv FILE')),
            ...explainCopies(cases.first),
          ]),
    table: {
      head: ['check-in', 'case', 'mapping', 'open', ...hotelColumns],
      rows: cases.first.map((item) => [
        nameCheckIn(item),
        `${item.id}`,
        item.state,
        formatCount(item.openBookings),
        ...toHotelCells(item),
      ]),
      wide: wideColumns,
      stays: bookingColumns,
    },
  };
}

function describeLeft({ left }: DayReport, { command }: SectionOptions): Section {
  return {
    title: 'Never resolved before the guests left',
    notes: left.count === 0 ? [] : [`to list them: ${command('cases --left')}`],
    table: {
      head: ['case', 'mapping', 'left', ...hotelColumns],
      rows: left.first.map((item) => [
        `${item.id}`,
        item.state,
        formatCount(item.leftBookings),
        ...toHotelCells(item),
      ]),
      wide: wideColumns,
    },
  };
}

function keepTexts(texts: readonly (string | false | 0 | null)[]): string[] {
  return texts.filter((text) => typeof text === 'string');
}

function adviseMore({ count, first }: DayReport['affected' | 'cases'], command: string) {
  return count > first.length && `the first ${formatCount(first.length)} are below; all of them: ${command}`;
}

const bookingColumns = ['check-in', 'booking'];
const wideColumns = ['booked hotel', 'hotel of the copy'];
const hotelColumns = [
  'provider',
  'hotel id',
  'booked',
  'booked hotel',
  'copy',
  'hotel of the copy',
  'distance',
];

function toHotelCells(item: DayReport['affected' | 'cases']['first'][number]): string[] {
  const { providerName, providerHotelId, serviceId, copyServiceId, bookedHotel, copyHotel, distanceKm } =
    item;
  const isSame = copyServiceId === serviceId;
  return [
    providerName ?? '-',
    providerHotelId ?? '-',
    `${serviceId}`,
    bookedHotel ?? '-',
    nameCopy(item, 'none'),
    isSame ? 'the same' : (copyHotel ?? '-'),
    isSame || distanceKm === null ? '-' : formatKilometres(distanceKm),
  ];
}

function describeBookings({
  day,
  runs,
  volume: { accepted, usual, isOfWeekday, compared },
}: DayReport): Section {
  const isCompared = runs.some(({ volume }) => volume !== null);
  if (accepted === null) return { title: 'Bookings', notes: [] };
  return {
    title: 'Bookings',
    notes: [
      usual === null
        ? `${formatCountOf(accepted, 'booking')}, not compared${isCompared ? ': no earlier day is known' : ''}`
        : `${formatCountOf(accepted, 'booking')}, usually ${formatCount(usual)}${isOfWeekday ? ' on this weekday' : ''}`,
    ],
    bars: [...compared, { day, accepted }].map((one) => ({
      label: one.day,
      value: one.accepted,
      text: formatCount(one.accepted),
      isHighlighted: one.day === day,
    })),
  };
}

function describeProviders({ volume: { providers } }: DayReport): Section {
  const others = providers.length - providersShown;
  return {
    title: 'Providers, and what is usual',
    notes: others > 0 ? [`the ${providersShown} largest of ${formatCount(providers.length)}`] : [],
    bars: providers.slice(0, providersShown).map(({ provider, accepted, usual }) => ({
      label: provider,
      value: accepted,
      text: formatCount(accepted),
      usual,
    })),
  };
}

function describeRejects({ day, rejects }: DayReport, { command }: SectionOptions): Section {
  return {
    title: 'Rejected, by reason',
    notes: rejects.length > 0 ? [`all of them: ${command(`rejected ${day} --csv FILE`)}`] : [],
    bars: rejects.map(({ reason, count }) => ({ label: reason, value: count, text: formatCount(count) })),
  };
}

function describeSteps({ steps }: DayReport): Section {
  return {
    title: 'Steps of the newest run',
    notes: [],
    bars: steps.map(({ kind, steps: count, attempts, startedAt, endedAt }) => ({
      label: count > 1 ? `${formatCount(count)} × ${kind}` : kind,
      value: Math.max(0, endedAt - startedAt),
      text: `${formatDuration(Math.max(0, endedAt - startedAt))}${attempts > count ? `, ${formatCountOf(attempts, 'attempt')}` : ''}`,
    })),
  };
}
