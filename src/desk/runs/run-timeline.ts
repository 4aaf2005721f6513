import { renderTimeline, type Segment, type TimelineRow } from '../../charts/timeline.js';
import { isActive } from '../../ledger/run.js';
import type { Ending, StepKind, StepState } from '../../ledger/step.js';
import { formatCount, formatCountOf } from '../../text/format.js';
import type { Html } from '../../text/html.js';
import type { DeskVisit } from '../page.js';
import type { RunPageData } from './run-data.js';

/** Collecting and each kind of step on a timeline, in the order of the plan. */
export function renderSteps(run: RunPageData, { now, timezone }: DeskVisit): Html {
  const kinds = [...new Set(run.steps.map(({ kind }) => kind))];
  return renderTimeline({
    title: 'Steps',
    timezone,
    rows: [...listCollecting(run, now), ...kinds.map((kind) => toRow(kind, run, now))],
    ...(isActive(run) && { now }),
  });
}

function listCollecting({ collect, finishedAt, state }: RunPageData, now: number): TimelineRow[] {
  if (!collect) return [];
  const ended = collect.endedAt ?? finishedAt;
  const kind = collect.endedAt !== null ? 'done' : state === 'collecting' ? 'open' : 'failed';
  const words = { done: 'done', open: 'in progress', failed: 'not completed' }[kind];
  const from = Date.parse(collect.startedAt);
  return [
    { label: 'collect', words, segments: [{ from, to: ended === null ? now : Date.parse(ended), kind }] },
  ];
}

interface Ended extends Pick<Segment, 'from' | 'to'> {
  readonly outcome: Ending;
  readonly attempts: number;
}

function toRow(kind: StepKind, { steps, attempts, open }: RunPageData, now: number): TimelineRow {
  const own = steps.filter((one) => one.kind === kind);
  const all = own.reduce((sum, one) => sum + one.steps, 0);
  const ended = attempts
    .filter((one) => one.kind === kind)
    .map(
      ({ startedAt, endedAt, ...sum }): Ended => ({
        ...sum,
        from: Date.parse(startedAt),
        to: Date.parse(endedAt),
      }),
    );
  const tried = ended.reduce((sum, one) => sum + one.attempts, 0);
  const states = own.map((one) => `${all === 1 ? '' : `${formatCount(one.steps)} `}${nameState(one.state)}`);
  const since = open?.oldest?.kind === kind ? Date.parse(open.oldest.startedAt) : undefined;
  const isWaiting = since === undefined && open?.next?.kind === kind;
  return {
    label: all === 1 ? kind : `${formatCount(all)} × ${kind}`,
    words: [...states, ...(tried > all ? [formatCountOf(tried, 'attempt')] : [])].join(', '),
    segments: [
      ...listWaits(ended, isWaiting ? now : undefined),
      ...ended.map(({ from, to, outcome }): Segment => ({ from, to, kind: toSegmentKind(outcome) })),
      ...(since === undefined ? [] : [{ from: since, to: Math.max(now, since), kind: 'open' as const }]),
    ],
    attempts: ended.map(({ from }) => from),
  };
}

/**
 * The times in which no step of a kind was being performed although some were left.
 *
 * @param until the end of the current wait; undefined if nothing is waiting
 */
function listWaits(ended: readonly Ended[], until: number | undefined): Segment[] {
  const waits: Segment[] = [];
  let reached: number | undefined;
  const ends = [
    ...ended.toSorted((a, b) => a.from - b.from),
    ...(until === undefined ? [] : [{ from: until, to: until }]),
  ];
  for (const { from, to } of ends) {
    if (reached !== undefined && from > reached) waits.push({ from: reached, to: from, kind: 'wait' });
    reached = Math.max(reached ?? to, to);
  }
  return waits;
}

function nameState(state: StepState): string {
  switch (state) {
    case 'waiting':
      return 'not begun';
    case 'ready':
      return 'open';
    case 'running':
      return 'in progress';
    case 'done':
    case 'refused':
    case 'failed':
    case 'halved':
    case 'overdue':
      return state;
  }
}

function toSegmentKind(outcome: Ending): Segment['kind'] {
  switch (outcome) {
    case 'done':
      return 'done';
    case 'refused':
    case 'failed':
    case 'fatal':
      return 'failed';
    case 'retry':
    case 'halved':
    case 'interrupted':
    case 'overdue':
      return 'work';
  }
}
