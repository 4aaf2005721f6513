import { type Html, html } from '../text/html.js';
import { percent } from './figure.js';

/** What all charts over days have in common. */
export interface DayChart {
  readonly title: string;
  /** YYYY-MM-DD, included */
  readonly from: string;
  /** YYYY-MM-DD, included */
  readonly to: string;
}

/** The days of a chart, each one unit wide. */
export interface DayAxis {
  /** YYYY-MM-DD */
  readonly days: readonly string[];
  /** The index of a day; undefined if it is not on the axis. */
  indexOf(day: string): number | undefined;
  /** The items whose day is on the axis, in the order of their days. */
  select<Item extends { readonly day: string }>(items: readonly Item[]): Item[];
}

const dayMs = 86_400_000;
const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** More days than this are labelled by month. */
const daysByWeek = 45;
/** Labels beyond these shares of the width would leave the chart: on a phone, and on any screen. */
const [lastOnPhone, lastOnAll] = [0.85, 0.95];

/** Both days are included; there are none if `to` is earlier. */
export function createDayAxis(from: string, to: string): DayAxis {
  const start = Date.parse(from);
  const toIndex = (day: string) => Math.round((Date.parse(day) - start) / dayMs);
  const count = Math.max(0, toIndex(to) + 1);
  const indexOf = (day: string) => {
    const index = toIndex(day);
    return index >= 0 && index < count ? index : undefined;
  };
  return {
    days: Array.from({ length: count }, (_, index) => toDay(start + index * dayMs)),
    indexOf,
    select: (items) =>
      items
        .filter(({ day }) => indexOf(day) !== undefined)
        .sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0)),
  };
}

/** Consecutive days on the axis. */
export interface Stretch {
  readonly start: number;
  readonly length: number;
}

/** @param days ascending */
export function listStretches({ indexOf }: DayAxis, days: readonly string[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const day of days) {
    const index = indexOf(day) ?? 0;
    const last = stretches.at(-1);
    if (last && last.start + last.length === index)
      stretches[stretches.length - 1] = { start: last.start, length: last.length + 1 };
    else stretches.push({ start: index, length: 1 });
  }
  return stretches;
}

function toDay(instant: number): string {
  return new Date(instant).toISOString().slice(0, '2026-11-20'.length);
}

/** 2026-11-20 as 20 Nov */
export function nameDay(day: string): string {
  return `${Number(day.slice(8))} ${nameMonth(day)}`;
}

/** 2026-11-20 as Nov, and the first month of a year as its number */
function labelMonth(day: string): string {
  return day.slice(5, 7) === '01' ? day.slice(0, 4) : nameMonth(day);
}

function nameMonth(day: string): string {
  return monthNames[Number(day.slice(5, 7)) - 1] ?? '';
}

/** Ticks under a drawing: the months, or the weeks of few days. Every second label is left out if space is short. */
export function renderDayTicks({ days }: DayAxis, top: number, bottom: number): Html {
  const isByWeek = days.length <= daysByWeek;
  const every = days.length <= 7 ? 1 : 7;
  const ticks = days.flatMap((day, index) => {
    if (isByWeek) return index % every === 0 ? [{ index, label: nameDay(day) }] : [];
    return day.endsWith('-01') ? [{ index, label: labelMonth(day) }] : [];
  });
  return html`${ticks.map(({ index, label }, place) => {
    const share = index / days.length;
    const x = percent(share);
    const isSpare = place % 2 === 1 || share > lastOnPhone;
    const text = html`<text${isSpare ? html` class="spare"` : undefined} x="${x}" dx="3" y="${bottom + 13}">${label}</text>`;
    return html`<line class="tick" x1="${x}" x2="${x}" y1="${top}" y2="${bottom + 14}"/>${share > lastOnAll ? undefined : text}`;
  })}`;
}

interface DayGroups<Item> {
  readonly name: string;
  readonly unit: string;
  /** Every day or month of the axis, including those without an item. */
  readonly groups: ReadonlyMap<string, readonly Item[]>;
}

/** Groups items by day if there are few days, otherwise by month. */
export function groupDays<Item extends { readonly day: string }>(
  { days }: DayAxis,
  items: readonly Item[],
): DayGroups<Item> {
  const isByDay = days.length <= daysByWeek;
  const groups = new Map<string, Item[]>();
  const nameOf = (day: string) => (isByDay ? day : day.slice(0, '2026-11'.length));
  for (const day of days) groups.set(nameOf(day), []);
  for (const item of items) groups.get(nameOf(item.day))?.push(item);
  return { ...(isByDay ? { name: 'By day', unit: 'Day' } : { name: 'By month', unit: 'Month' }), groups };
}
