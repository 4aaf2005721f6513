import { tzOffset } from '@date-fns/tz';
import { readLocalTime } from '../geography/time-zones.js';
import { showInLine } from '../text/foreign-text.js';
import { formatDay, formatDayAndTime, formatDuration } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import {
  drawDashes,
  drawSign,
  drawTicks,
  findStep,
  type LegendEntry,
  labelTicks,
  listStretches,
  percent,
  renderFigure,
  stretch,
  type Tick,
  timeSteps,
} from './figure.js';

/** In the order in which they are drawn: waits come first, so that what happened meanwhile is on top. */
const kinds = {
  wait: 'waiting',
  /** Lasts until now. */
  open: 'not ended',
  done: 'done',
  work: 'at work',
  failed: 'failed',
} as const;
type SegmentKind = keyof typeof kinds;
const kindsInOrder = Object.keys(kinds) as SegmentKind[];

export interface Segment {
  /** Epoch milliseconds */
  readonly from: number;
  readonly to: number;
  readonly kind: SegmentKind;
}

/** A step, or several of a kind. */
export interface TimelineRow {
  readonly label: string;
  /** How it went, in words, for those who can't see the line. */
  readonly words: string;
  readonly segments: readonly Segment[];
  /** When attempts began, in epoch milliseconds. */
  readonly attempts?: readonly number[] | undefined;
}

interface Timeline {
  readonly title: string;
  /** IANA name */
  readonly timezone: string;
  readonly rows: readonly TimelineRow[];
  /** Epoch milliseconds; only for a run in progress. */
  readonly now?: number | undefined;
}

/** Of the line: shorter segments are shown as long as this, and closer ones are drawn as one. */
const units = 300;
/** Within rows of 44 pixels, which grow with their words: the middle of segments, and the top of attempts. */
const [middle, belowSegments] = [19, 30];
/** Labels beyond this share of the width would touch the "now" at the end. */
const lastBeforeNow = 0.87;
/** A shorter time is shown as this long. */
const minMs = 5_000;

/** The steps of a run on a time line: a list of rows that share one axis. */
export function renderTimeline({ title, timezone, rows, now }: Timeline): Html {
  const all = rows.flatMap(({ segments }) => segments);
  if (all.length === 0) return renderFigure({ title, summary: 'No step has begun.' });
  const { from, to } = findRange(now === undefined ? all : [...all, { from: now, to: now }]);
  const length = Math.max(minMs, to - from);
  const shareOf: ShareOf = (instant) => Math.min(1, Math.max(0, (instant - from) / length));
  const ticks = listTicks(from, length, timezone);
  const nowTick = now === undefined ? [] : [{ share: shareOf(now), label: 'now' }];
  const ground = [...drawTicks(ticks, '100%'), ...drawTicks(nowTick, '100%', 'now')];
  const times = nowTick.length === 0 ? ticks : ticks.filter(({ share }) => share < lastBeforeNow);
  const items = rows.map(
    (row) =>
      html`<li><div><span class="timeline-label">${showInLine(row.label)}</span> <span class="timeline-words">${showInLine(row.words)}${describeRange(row, timezone)}</span></div>
<svg aria-hidden="true" width="100%" height="44">${ground}${renderRow(row, shareOf)}</svg></li>
`,
  );
  return renderFigure({
    title,
    summary: `${formatDayAndTime(from, timezone)}, ${formatDuration(to - from)}${now === undefined ? '' : ' so far'}, ${timezone}`,
    content: html`<ol class="timeline">
${items}<li aria-hidden="true"><div></div><svg width="100%" height="20">${labelTicks(times, 14)}${nowTick.map(({ share, label }) => html`<text class="strong" x="${percent(share)}" y="14">${label}</text>`)}</svg></li></ol>
`,
    legend: listLegend(rows),
  });
}

function findRange(segments: readonly Pick<Segment, 'from' | 'to'>[]) {
  // Each end counts as both: the clock may have been set back meanwhile.
  const instants = segments.flatMap(({ from, to }) => [from, to]).sort((a, b) => a - b);
  return { from: instants[0] ?? 0, to: instants.at(-1) ?? 0 };
}

function describeRange({ segments }: TimelineRow, timezone: string): string {
  if (segments.length === 0) return '';
  const { from, to } = findRange(segments);
  return `, from ${readLocalTime(from, timezone).split('T')[1]}, ${formatDuration(to - from)}`;
}

/** The place of an instant, as a share of the width. */
type ShareOf = (instant: number) => number;

function renderRow({ segments, attempts = [] }: TimelineRow, shareOf: ShareOf): Html {
  const unitOf = (instant: number) => Math.round(shareOf(instant) * units);
  const marksOf = (kind: SegmentKind) => {
    const isMarked = Array.from({ length: units }, () => false);
    for (const segment of segments) {
      if (segment.kind !== kind) continue;
      const start = Math.min(units - 1, unitOf(segment.from));
      // The clock may have been set back meanwhile.
      isMarked.fill(true, start, Math.max(start + 1, unitOf(segment.to)));
    }
    return isMarked;
  };
  const paths = kindsInOrder.map((kind) => drawSegment(kind, drawDashes(marksOf(kind), middle)));
  const begun = [...new Set(attempts.map(unitOf))].map((unit) => `M${unit} ${belowSegments}v7`);
  const crosses = listStretches(marksOf('failed')).map(({ end }) =>
    drawSign('×', percent(end / units), middle + 5),
  );
  return html`${stretch(units, 44, [...paths, html`<path class="attempt" d="${begun.join('')}"/>`])}${crosses}`;
}

/** Each kind has its own thickness, dashes or sign, so that kinds can be told apart without colour. */
function drawSegment(kind: SegmentKind, path: string): Html {
  return path === '' ? html`` : html`<path class="segment ${kind}" d="${path}"/>`;
}

/** The kinds that are on the line. */
function listLegend(rows: readonly TimelineRow[]): LegendEntry[] {
  const shown = new Set(rows.flatMap(({ segments }) => segments.map(({ kind }) => kind)));
  const entries = kindsInOrder
    .filter((kind) => shown.has(kind))
    .map(
      (kind): LegendEntry => [
        kinds[kind],
        html`${drawSegment(kind, 'M2 11h18')}${kind === 'failed' ? drawSign('×', 20, 16) : undefined}`,
      ],
    );
  if (rows.some(({ attempts = [] }) => attempts.length > 0))
    entries.push(['an attempt begins', html`<path class="attempt" d="M12 8v7"/>`]);
  return entries;
}

const minuteMs = 60_000;
/** As many steps as fit a wide screen. */
const maxSteps = 7;

function listTicks(from: number, length: number, timezone: string): Tick[] {
  const step = findStep(timeSteps, length, maxSteps);
  // Shifted, so that ticks are at full hours in the zone.
  const shift = tzOffset(timezone, new Date(from)) * minuteMs;
  const first = Math.ceil((from + shift) / step) * step - shift;
  const count = Math.floor((from + length - first) / step) + 1;
  return Array.from({ length: count }, (_, place) => {
    const at = first + place * step;
    return { share: (at - from) / length, label: labelTick(at, timezone, step < minuteMs) };
  });
}

/** The local time; the day at midnight. */
function labelTick(instant: number, timezone: string, hasSeconds: boolean): string {
  const [day = '', time = ''] = readLocalTime(instant, timezone).split('T');
  // The seconds are the same in every zone.
  if (hasSeconds) return `${time}:${new Date(instant).toISOString().slice(17, 19)}`;
  return time === '00:00' ? formatDay(day).replace(/ \d+$/, '') : time;
}
