import { renderTimeline, type Segment, type TimelineRow } from '../charts/timeline.js';
import { isActive } from '../ledger/run.js';
import type { Ending, StepKind, StepState } from '../ledger/step.js';
import { formatCount, formatCountOf } from '../text/format.js';
import type { Html } from '../text/html.js';
import type { DeskVisit } from './page.js';
import type { ShownRun } from './run-page.js';

/** Collecting and each kind of step on a timeline, in the order of the plan. */
export function renderSteps(run: ShownRun, { now, timezone }: DeskVisit): Html {
  const kinds = [...new Set(run.steps.map(({ kind }) => kind))];
  return renderTimeline({
    title: 'Steps',
    timezone,
    rows: [...listCollecting(run, now), ...kinds.map((kind) => toRow(kind, run, now))],
    ...(isActive(run) && { now }),
  });
}

function listCollecting({ collect, finishedAt, state }: ShownRun, now: number): TimelineRow[] {
  if (!collect) return [];
  const ended = collect.endedAt ?? finishedAt;
  const kind = collect.endedAt !== null ? 'done' : state === 'collecting' ? 'open' : 'failed';
  const words = { done: 'done', open: 'in progress', failed: 'not completed' }[kind];
  const to = ended === null ? now : Date.parse(ended);
  return [{ label: 'collect', words, segments: [{ from: Date.parse(collect.startedAt), to, kind }] }];
}

function toRow(kind: StepKind, { steps, attempts, open }: ShownRun, now: number): TimelineRow {
  const own = steps.filter((one) => one.kind === kind);
  const all = own.reduce((sum, one) => sum + one.steps, 0);
  const tries = attempts.filter((one) => one.kind === kind);
  const ended = tries.map(({ startedAt, endedAt, outcome }): Segment => {
    return { from: Date.parse(startedAt), to: Date.parse(endedAt), kind: segmentKinds[outcome] ?? 'work' };
  });
  const tried = tries.reduce((sum, one) => sum + one.attempts, 0);
  const count = (some: number) => (all === 1 ? '' : `${formatCount(some)} `);
  const states = own.map((one) => `${count(one.steps)}${stateWords[one.state] ?? one.state}`);
  const since = open?.oldest?.kind === kind ? Date.parse(open.oldest.startedAt) : undefined;
  const isWaiting = since === undefined && open?.next?.kind === kind;
  return {
    label: all === 1 ? kind : `${formatCount(all)} × ${kind}`,
    words: [...states, ...(tried > all ? [formatCountOf(tried, 'attempt')] : [])].join(', '),
    segments: [
      ...listWaits(ended, isWaiting ? now : undefined),
      ...ended,
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
function listWaits(ended: readonly Segment[], until: number | undefined): Segment[] {
  const waits: Segment[] = [];
  let reached: number | undefined;
  const current = until === undefined ? [] : [{ from: until, to: until }];
  for (const { from, to } of [...ended.toSorted((a, b) => a.from - b.from), ...current]) {
    if (reached !== undefined && from > reached) waits.push({ from: reached, to: from, kind: 'wait' });
    reached = Math.max(reached ?? to, to);
  }
  return waits;
}

/** Where the ledger's own word is not plain. */
const stateWords: Partial<Record<StepState, string>> = {
  waiting: 'not begun',
  ready: 'open',
  running: 'in progress',
};

/** After any other ending, something is left to do. */
const segmentKinds: Partial<Record<Ending, Segment['kind']>> = {
  done: 'done',
  refused: 'failed',
  failed: 'failed',
  fatal: 'failed',
};
