import { tzOffset } from '@date-fns/tz';
import { readLocalTime } from '../geography/time-zones.js';
import { showInLine } from '../text/foreign-text.js';
import { formatDuration, formatLocalInstant } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { type LegendEntry, nameDay, percent, renderEmptyFigure, renderLegend, stretch } from './figure.js';

/** `open` is what has not ended: it lasts until now. */
export type SegmentKind = 'work' | 'wait' | 'failed' | 'done' | 'open';

export interface Segment {
  /** Epoch milliseconds */
  readonly from: number;
  /** Epoch milliseconds */
  readonly to: number;
  readonly kind: SegmentKind;
}

/** A step, or several of a kind. */
export interface TimelineRow {
  readonly label: string;
  /** How it went, in words, for those who can't see the line. */
  readonly words: string;
  readonly link?: string | undefined;
  readonly segments: readonly Segment[];
  /** When attempts began, in epoch milliseconds. */
  readonly attempts?: readonly number[] | undefined;
}

export interface Timeline {
  readonly title: string;
  /** IANA name */
  readonly timezone: string;
  readonly rows: readonly TimelineRow[];
  /** Epoch milliseconds; only for a run in progress. */
  readonly now?: number | undefined;
}

/** Within rows of 44 pixels, which grow with their words. */
const [barTop, barHeight] = [12, 14];
/** Shares of the width. A run may have a million attempts: neighbours of a kind closer than this are drawn as one. */
const [finestSegment, finestAttempt] = [0.01, 0.004];
/** The smallest share of the width that is visible on a phone. */
const minShare = 0.003;
/** More labels than this don't fit a phone. */
const labelsOnPhone = 4;
/** Labels closer than this to an edge, or to the "now" label, don't fit. */
const [edgeShare, nowShare] = [0.04, 0.13];

/** The steps of a run on a time line: a list of rows that share one axis. */
export function renderTimeline({ title, timezone, rows, now }: Timeline): Html {
  const instants = rows.flatMap(({ segments, attempts = [] }) => [
    ...segments.flatMap(({ from, to }) => [from, to]),
    ...attempts,
  ]);
  if (instants.length === 0) return renderEmptyFigure(title, 'No step has begun.');
  const [from, to] = findRange(now === undefined ? instants : [...instants, now]);
  const axis = createTimeAxis(from, to, timezone);
  const ground = renderGround(axis, now);
  return html`<figure class="chart"><figcaption><strong>${title}</strong> <span>${formatLocalInstant(from, timezone)}, ${formatDuration(to - from)}${now === undefined ? '' : ' so far'}, ${timezone}</span></figcaption>
<ol class="timeline">
${rows.map(
  (
    row,
  ) => html`<li><div><span class="timeline-label">${nameRow(row)}</span> <span class="timeline-words">${showInLine(row.words)}</span></div>
<svg aria-hidden="true" width="100%" height="44">${ground}${renderSegments(row, axis, timezone)}${renderAttempts(row, axis)}</svg></li>
`,
)}<li aria-hidden="true"><div></div><svg width="100%" height="20">${renderTimes(axis, now)}</svg></li></ol>
${renderLegend(listLegend(rows))}</figure>
`;
}

/** A loop, because an array of all attempts may be longer than an argument list. */
function findRange(instants: readonly number[]): [number, number] {
  let [from, to] = [Infinity, -Infinity];
  for (const instant of instants) {
    from = Math.min(from, instant);
    to = Math.max(to, instant);
  }
  return [from, to];
}

function nameRow({ label, link }: TimelineRow): Html {
  const name = showInLine(label);
  return link === undefined ? html`${name}` : html`<a href="${link}">${name}</a>`;
}

function renderGround({ ticks, shareOf }: TimeAxis, now: number | undefined): Html {
  const line = (share: number, name: string) => {
    const x = percent(share);
    return html`<line class="${name}" x1="${x}" x2="${x}" y2="100%"/>`;
  };
  return html`${ticks.map(({ share }) => line(share, 'tick'))}${now === undefined ? undefined : line(shareOf(now), 'now')}`;
}

function renderTimes({ ticks, shareOf }: TimeAxis, now: number | undefined): Html {
  const nowAt = now === undefined ? undefined : shareOf(now);
  const times = ticks.map(({ share, label }, place) => {
    if (nowAt !== undefined && Math.abs(nowAt - share) < nowShare) return html``;
    const isSpare = place % 2 === 1 && ticks.length > labelsOnPhone;
    return html`<text${isSpare ? html` class="spare"` : undefined} x="${percent(share)}" y="14" text-anchor="${anchorAt(share)}">${label}</text>`;
  });
  return html`${times}${nowAt === undefined ? undefined : html`<text class="strong" x="${percent(nowAt)}" y="14" text-anchor="${anchorAt(nowAt)}">now</text>`}`;
}

function anchorAt(share: number): 'start' | 'middle' | 'end' {
  if (share < edgeShare) return 'start';
  return share > 1 - edgeShare ? 'end' : 'middle';
}

/** Waits are drawn first, so that what happened meanwhile is on top. */
const drawingOrder = ['wait', 'open', 'done', 'work', 'failed'] as const satisfies readonly SegmentKind[];

function renderSegments({ segments }: TimelineRow, axis: TimeAxis, timezone: string): Html {
  return html`${drawingOrder.flatMap((kind) => {
    const ofKind = segments.filter((segment) => segment.kind === kind);
    return joinNeighbours(ofKind, axis).map((segment) => renderSegment(segment, axis, timezone));
  })}`;
}

function joinNeighbours(segments: readonly Segment[], { shareOf }: TimeAxis): Segment[] {
  const joined: Segment[] = [];
  for (const segment of [...segments].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && shareOf(segment.from) - shareOf(last.to) < finestSegment)
      joined[joined.length - 1] = { ...last, to: Math.max(last.to, segment.to) };
    // The clock may have been set back meanwhile.
    else joined.push({ ...segment, to: Math.max(segment.from, segment.to) });
  }
  return joined;
}

function renderSegment({ from, to, kind }: Segment, { shareOf }: TimeAxis, timezone: string): Html {
  const length = Math.max(minShare, shareOf(to) - shareOf(from));
  const start = Math.min(shareOf(from), 1 - length);
  const words = `${kindWords[kind]}: ${formatLocalInstant(from, timezone)}, ${formatDuration(to - from)}`;
  return html`<g><title>${words}</title>${drawSegment(kind, barTop, [percent(start), percent(length), percent(start + length)])}</g>`;
}

/** Each kind has its own shape, so that kinds can be told apart without colour. */
function drawSegment(
  kind: SegmentKind,
  top: number,
  [x, width, end]: readonly [string, string, string],
): Html {
  const [y, height] = kind === 'wait' ? [top + barHeight / 2 - 2, 4] : [top, barHeight];
  const box = html`<rect class="segment ${kind}" x="${x}" y="${y}" width="${width}" height="${height}"/>`;
  return kind === 'failed'
    ? html`${box}<text class="cross" x="${end}" y="${top + barHeight - 2}">×</text>`
    : box;
}

const kindWords: Readonly<Record<SegmentKind, string>> = {
  work: 'at work',
  wait: 'waiting',
  failed: 'failed',
  done: 'done',
  open: 'not ended',
};

function renderAttempts({ attempts = [] }: TimelineRow, { shareOf }: TimeAxis): Html | undefined {
  if (attempts.length === 0) return undefined;
  const steps = new Set(attempts.map((attempt) => Math.round(shareOf(attempt) / finestAttempt)));
  const path = [...steps].map((step) => `M${step} 0v7`).join('');
  const drawing = stretch(Math.round(1 / finestAttempt), 7, html`<path class="attempt" d="${path}"/>`);
  return html`<svg y="${barTop + barHeight + 4}" width="100%" height="7">${drawing}</svg>`;
}

/** The kinds that are on the line. */
function listLegend(rows: readonly TimelineRow[]): LegendEntry[] {
  const kinds = new Set(rows.flatMap(({ segments }) => segments.map(({ kind }) => kind)));
  return [
    ...drawingOrder
      .filter((kind) => kinds.has(kind))
      .map((kind) => ({ name: kindWords[kind], drawing: drawSegment(kind, 4, ['2', '18', '20']) })),
    ...(rows.some(({ attempts = [] }) => attempts.length > 0)
      ? [{ name: 'an attempt begins', drawing: html`<path class="attempt" d="M12 8v7"/>` }]
      : []),
  ];
}

/** Instants in epoch milliseconds, from left to right. */
interface TimeAxis {
  /** As a share of the width. */
  shareOf(instant: number): number;
  readonly ticks: readonly TimeTick[];
}

interface TimeTick {
  readonly share: number;
  /** The local time; the day at midnight. */
  readonly label: string;
}

const minuteMs = 60_000;
/** A shorter time is shown as this long. */
const minMs = 5_000;
const maxTicks = 8;

function createTimeAxis(from: number, to: number, timezone: string): TimeAxis {
  const length = Math.max(minMs, to - from);
  // Shifted, so that ticks are at full hours in the zone.
  const shift = tzOffset(timezone, new Date(from)) * minuteMs;
  const ticks = listTicks(from + shift, length).map((tick) => tick - shift);
  const hasSeconds = ticks.some((tick) => tick % minuteMs !== 0);
  const shareOf = (instant: number) => Math.min(1, Math.max(0, (instant - from) / length));
  return {
    shareOf,
    ticks: ticks.map((tick) => ({ share: shareOf(tick), label: labelTick(tick, timezone, hasSeconds) })),
  };
}

/** In the order of their length: round times, as people count them. */
const steps = [
  ...[1, 5, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 5, 15, 30, 60, 180, 360, 720].map((minutes) => minutes * minuteMs),
  ...[1, 2, 7, 28].map((days) => days * 1_440 * minuteMs),
];

/** As many as fit a wide screen. */
function listTicks(start: number, length: number): readonly number[] {
  const step = steps.find((one) => countTicks(start, length, one) <= maxTicks) ?? length / maxTicks;
  const first = Math.ceil(start / step) * step;
  return Array.from({ length: countTicks(start, length, step) }, (_, index) => first + index * step);
}

function countTicks(start: number, length: number, step: number): number {
  return Math.floor((start + length) / step) - Math.ceil(start / step) + 1;
}

function labelTick(instant: number, timezone: string, hasSeconds: boolean): string {
  const [day = '', time = ''] = readLocalTime(instant, timezone).split('T');
  // The seconds are the same in every zone.
  if (hasSeconds) return `${time}:${new Date(instant).toISOString().slice(17, 19)}`;
  return time === '00:00' ? nameDay(day) : time;
}
