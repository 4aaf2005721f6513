import { formatCount, formatCountOf, formatDay } from '../text/format.js';
import type { Html } from '../text/html.js';
import { type DayRange, renderDayFigure, sum, sumKnown } from './day-figure.js';

export interface VolumeDay {
  /** YYYY-MM-DD */
  readonly day: string;
  /** Null if the day was not counted. */
  readonly accepted: number | null;
  /** Null if too few days are known. */
  readonly usual: number | null;
  /** Far fewer bookings than usual. */
  readonly isDrop?: boolean;
}

/** The accepted bookings per day, and a line for the usual number. */
export function renderVolume({ days, ...range }: DayRange & { readonly days: readonly VolumeDay[] }): Html {
  return renderDayFigure({
    ...{ ...range, empty: 'No day to show yet.' },
    items: days.some(({ accepted }) => accepted !== null) ? days : [],
    value: ({ accepted }) => accepted,
    usual: ({ usual }) => usual,
    signs: [['▼', 'far fewer than usual', ({ isDrop }) => isDrop]],
    summarise: (items) => `${describeLast(items)}${describeDrops(items)}`,
    columns: {
      Accepted: (items) => sumKnown(items.map(({ accepted }) => accepted)),
      'Of what is usual': describeShare,
      'Days with far fewer': (items) => formatCount(countDrops(items)),
    },
  });
}

/** The last day whose number is known. */
function describeLast(days: readonly VolumeDay[]): string {
  const last = days.findLast((one) => one.accepted !== null);
  if (!last) return 'unknown';
  const usual = last.usual === null ? 'not compared yet' : `usually ${formatCount(last.usual)}`;
  return `${formatDay(last.day)}: ${formatCount(last.accepted ?? 0)}, ${usual}`;
}

function describeDrops(days: readonly VolumeDay[]): string {
  const drops = countDrops(days);
  return drops > 0 ? `; ${formatCountOf(drops, 'day')} with far fewer than usual` : '';
}

function countDrops(days: readonly VolumeDay[]): number {
  return days.filter(({ isDrop }) => isDrop).length;
}

/** For the days of which both numbers are known. */
function describeShare(days: readonly VolumeDay[]): string {
  const compared = days.filter(({ accepted, usual }) => accepted !== null && usual !== null);
  const usual = sum(compared.map((one) => one.usual));
  if (usual === 0) return 'unknown';
  return `${formatCount(Math.round((100 * sum(compared.map(({ accepted }) => accepted))) / usual))} %`;
}
