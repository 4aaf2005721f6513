import type { BusinessDay } from '../src/booking/business-day.js';
import type { ReplayOptions } from '../src/cli/commands/review.js';
import { exitCodeOf, worstOf } from '../src/cli/exit-code.js';
import { describeFailure } from '../src/cli/failure.js';
import type { RangeProgress } from '../src/cli/range-progress.js';
import {
  type DayOutcome,
  describeOutcome,
  endsRange,
  exitCodeOfDay,
  renderNotStarted,
  renderRangeSummary,
  toDayObject,
} from '../src/cli/range-summary.js';
import type { Config } from '../src/config/load.js';
import { planDay, requestOf } from '../src/review/day/range-plan.js';
import { readReport } from '../src/review/day/report.js';
import { type RunDayParts, runDay } from '../src/review/day/run-day.js';
import { runDaysConcurrently, runsAtOnce, waitForRunSlot } from '../src/review/day/run-slots.js';
import { listSuspects, suspectsReported } from '../src/review/suspects/listing.js';
import { completeCommands } from '../src/text/shell.js';
import type { App } from './app.js';
import { recordOpening } from './audit.js';
import { clock } from './clock.js';
import { followUpAndSay } from './follow-up.js';
import { keepReport } from './keep-report.js';
import { applyConfiguredRetention } from './review-day.js';
import type { Terminal } from './terminal.js';

/**
 * Reviews a range of days in order, as many at once as the ledger allows across all processes. A failed day does not end the
 * range, unless every other day would fail in the same way.
 *
 * @returns the exit code of the worst day
 */
export async function replayRange(
  app: App,
  days: readonly BusinessDay[],
  options: ReplayOptions,
): Promise<number> {
  const { config } = app;
  const terminal: Terminal = app;
  const { signal } = terminal;
  const atOnce = Math.min(runsAtOnce, days.length);
  const progress = terminal.followDays();
  const parts = await app.review();
  const ledger = await app.ledger();
  const outcomes = new Map<string, DayOutcome>();
  const perform = (day: BusinessDay) => reviewOne(day, { config, parts, options, terminal });
  const note = (outcome: DayOutcome) => {
    outcomes.set(outcome.day, outcome);
    progress.end(outcome.day, describeOutcome(outcome));
    terminal.report(toDayObject(outcome), { more: true });
  };
  const findEnd = () => [...outcomes.values()].find(endsRange);
  const mayBegin = () => !signal.aborted && findEnd() === undefined;

  let notBegun: readonly BusinessDay[];
  try {
    notBegun = await runDaysConcurrently(days, {
      atOnce,
      mayBegin,
      async begin(day) {
        const left = await findLeft(day, parts, options);
        if (left) {
          note(left);
          return { ended: Promise.resolve() };
        }
        const onWait = () => progress.say(describeWait(day));
        const place = await waitForRunSlot(parts.ledger, runsAtOnce, { signal, onWait });
        if (!place || !mayBegin()) {
          await place?.release();
          return undefined;
        }
        const ended = perform(day)
          .then(note)
          .finally(() => place.release());
        return { ended };
      },
    });
    if (!signal.aborted) await followUpAndSay(config, { ...terminal, ledger, say: progress.say });
    for (const outcome of outcomes.values()) {
      if (outcome.kind !== 'reviewed' || signal.aborted) continue;
      const run = await ledger.getRun(outcome.report.runId);
      await keepReport(config, run, { ...terminal, ledger, warn: progress.say });
    }
    if (!signal.aborted) await applyConfiguredRetention(config, parts.ledger, progress.say, signal);
  } finally {
    endProgress(progress, terminal);
  }

  const inOrder = days.flatMap(({ iso }) => outcomes.get(iso) ?? []);
  terminal.say(renderRangeSummary(inOrder, terminal.command));
  const [next, to] = [notBegun[0], days.at(-1)];
  if (next && to) {
    const end = findEnd();
    const why = signal.aborted || !end ? 'it was stopped' : `${end.day} failed in a way that every day would`;
    terminal.say(renderNotStarted({ ...options, why, next: next.iso, to: to.iso }, terminal.command));
  }
  const codes = inOrder.map(exitCodeOfDay);
  return worstOf(next ? [...codes, 1] : codes);
}

function endProgress(progress: Pick<RangeProgress, 'stop'>, terminal: Terminal): void {
  progress.stop();
  terminal.endProgress();
}

async function findLeft(
  day: BusinessDay,
  { ledger }: RunDayParts,
  options: ReplayOptions,
): Promise<DayOutcome | undefined> {
  const plan = planDay(options.mode, await ledger.latestRun(day.iso), { ...options, day });
  if (plan.action !== 'nothing') return undefined;
  const runId = plan.run ? { runId: plan.run.id } : {};
  return { kind: 'left', day: day.iso, why: plan.why, ...runId };
}

/** What the options say about each day. */
export function toRequest({ delivery, reason, acceptVolume }: ReplayOptions, { io }: Pick<Terminal, 'io'>) {
  return { delivery, reason, volumeAcceptedBy: acceptVolume ? io.user : undefined };
}

interface ReviewContext {
  readonly config: Config;
  readonly parts: RunDayParts;
  readonly options: ReplayOptions;
  readonly terminal: Terminal;
}

async function reviewOne(
  day: BusinessDay,
  { config, parts, options, terminal }: ReviewContext,
): Promise<DayOutcome> {
  const request = { ...requestOf(options.mode, toRequest(options, terminal)), trigger: 'replay' } as const;
  const { onOpened, recorded } = recordOpening(parts.ledger, request, terminal);
  try {
    const { run } = await runDay(
      { ...request, day, configuredDelivery: config.delivery },
      parts,
      terminal.signal,
      { onOpened },
    );
    const suspects = await listSuspects(parts.ledger, run, suspectsReported);
    const report = await readReport(parts.ledger, run, {
      now: clock(),
      timezone: day.zone,
      listed: suspects,
    });
    return { kind: 'reviewed', day: day.iso, report, exitCode: exitCodeOf(run) };
  } catch (error) {
    const failure = describeFailure(error);
    const message = completeCommands(failure.message, terminal.command);
    return { kind: 'error', day: day.iso, failure: { ...failure, message } };
  } finally {
    await recorded();
  }
}

function describeWait({ iso }: BusinessDay): string {
  return `${iso}: waiting: the maximum number of runs is in progress (${runsAtOnce})`;
}
