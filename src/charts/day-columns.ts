import { formatCount, formatCountOf } from '../text/format.js';
import type { Html } from '../text/html.js';
import { type DayRange, renderDayFigure, sum, sumKnown } from './day-figure.js';

interface DayColumns extends DayRange {
  /** The bookings of reviewed days; null is unknown. */
  readonly days: readonly {
    /** YYYY-MM-DD */
    readonly day: string;
    readonly accepted: number;
    readonly rejected: number;
    readonly unanswered: number | null;
    readonly affected: number | null;
  }[];
  /** Days that were due and have no run. */
  readonly missing: readonly string[];
}

/** The bookings per day. */
export function renderDayColumns({ days, missing, ...range }: DayColumns): Html {
  type Item = { readonly day: string; readonly isMissing?: boolean } & Partial<(typeof days)[number]>;
  const isMissing = (item: Item) => item.isMissing === true;
  return renderDayFigure<Item>({
    ...{ ...range, empty: 'No day to show yet.' },
    items: [...days, ...missing.map((day) => ({ day, isMissing: true }))],
    value: ({ accepted }) => accepted,
    strips: {
      Rejected: ({ rejected }) => rejected,
      Unanswered: ({ unanswered }) => unanswered,
      Affected: ({ affected }) => affected,
    },
    summarise(items) {
      const gaps = items.filter(isMissing).length;
      const accepted = formatCountOf(sum(items.map((item) => item.accepted)), 'booking');
      const reviewed = formatCountOf(items.length - gaps, 'day');
      return `${accepted} accepted on ${reviewed}${gaps > 0 ? `; ${formatCountOf(gaps, 'day')} missing (×)` : ''}`;
    },
    columns: {
      Accepted: (items) => sumKnown(items.map(({ accepted }) => accepted)),
      'Missing days': (items) => formatCount(items.filter(isMissing).length),
    },
  });
}

interface SentColumns extends DayRange {
  /** The affected ones are null if no verdict is known. */
  readonly days: readonly { readonly day: string; readonly sent: number; readonly affected: number | null }[];
}

/** The sent bookings per day as columns, and below them the affected ones. */
export function renderSentColumns({ days, ...range }: SentColumns): Html {
  return renderDayFigure({
    ...{ ...range, empty: 'Nothing was sent.' },
    items: days.filter(({ sent }) => sent > 0),
    value: ({ sent }) => sent,
    strips: { Affected: ({ affected }) => affected },
    summarise: (items) =>
      `${formatCountOf(sum(items.map(({ sent }) => sent)), 'booking')} sent on ${formatCountOf(items.length, 'day')}`,
    columns: { Sent: (items) => sumKnown(items.map(({ sent }) => sent)) },
  });
}
