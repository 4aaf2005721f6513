import type { BusinessDay } from '../src/booking/business-day.js';
import { renderMissedCanaries } from '../src/cli/canary.js';
import { exitCode, exitCodeOf } from '../src/cli/exit-code.js';
import { readRunDetails, renderClosing } from '../src/cli/run-summary.js';
import type { Config } from '../src/config/load.js';
import { KeyError } from '../src/keys/key-error.js';
import { toCanaryReport } from '../src/report/canary.js';
import { requireBegun } from '../src/review/day/begun-days.js';
import type { DayRequest } from '../src/review/day/open-run.js';
import { readWaiting, toReport } from '../src/review/day/report.js';
import { runDay } from '../src/review/day/run-day.js';
import type { Ledger } from '../src/review/ledger.js';
import { quickRewrite } from '../src/review/retention.js';
import { hasWork, isToBeAccepted, type Run, type Trigger } from '../src/review/run.js';
import { applyRetention } from '../src/review/stored/retention.js';
import { listSuspects, suspectsReported } from '../src/review/suspects/listing.js';
import type { WriteCommand } from '../src/text/shell.js';
import { UsageError } from '../src/text/usage-error.js';
import type { App } from './app.js';
import { recordOpening } from './audit.js';
import { clock } from './clock.js';
import { followUpAndSay, followUpCanaries } from './follow-up.js';
import { keepReport } from './keep-report.js';
import { openArchive, openKeyDestruction, openSpool } from './parts.js';
import type { Terminal } from './terminal.js';
import { findMailPlace } from './verdict-mails.js';

export type ReviewRequest = DayRequest & {
  readonly trigger: Trigger;
  /** Leaves the steps to workers once the day is collected. */
  readonly detach?: boolean;
};

/** The main job: reviews one business day and returns the exit code. */
export async function reviewDay(
  app: App,
  day: BusinessDay,
  { detach = false, ...request }: ReviewRequest,
): Promise<number> {
  const { config } = app;
  const terminal: Terminal = app;
  requireBegun(day, clock());
  if (detach && config.queue.kind === 'in-process')
    throw new UsageError('--detach leaves the steps to workers: set queue to redis://…');
  const parts = await app.review({ performs: !detach });
  const ledger = await app.ledger();
  const { recorded, ...callbacks } = recordOpening(ledger, request, terminal);
  try {
    const { run, wasDone } = await runDay(
      { ...request, day, configuredDelivery: config.delivery },
      parts,
      terminal.signal,
      callbacks,
    );
    terminal.endProgress();
    if (wasDone) terminal.say(describeDone(run, terminal.command));
    const { notify, say: warn, signal } = terminal;
    const missed = signal.aborted ? [] : await followUpCanaries({ ledger, notify, warn });
    const waiting = await readWaiting(parts.ledger, run, clock());
    const details = await readRunDetails(parts.ledger, run, parts.reader.placeUnit);
    terminal.say(
      renderClosing(
        { ...details, ...waiting },
        {
          now: clock(),
          command: terminal.command,
          paint: terminal.paint,
          isOnlooker: detach,
          timezone: day.zone,
          mailPlace: findMailPlace(config),
        },
      ),
    );
    const ofOthers = missed.filter(({ runId }) => runId !== run.id);
    const style = { now: clock(), command: terminal.command, timezone: day.zone };
    if (ofOthers.length > 0) terminal.say(renderMissedCanaries(ofOthers, style));
    const suspects = await listSuspects(parts.ledger, run, suspectsReported);
    const canary = details.canary && { canary: toCanaryReport(details.canary, clock()) };
    terminal.report({
      ...toReport(run, { now: clock(), timezone: day.zone, listed: suspects }),
      ...waiting,
      ...canary,
    });
    if (!signal.aborted) await followUpAndSay(config, { ...terminal, ledger });
    await keepReport(config, run, { ...terminal, ledger });
    if (!terminal.signal.aborted)
      await applyConfiguredRetention(config, parts.ledger, terminal.say, terminal.signal);
    return detach && hasWork(run) ? exitCode.done : exitCodeOf(run);
  } finally {
    await recorded();
  }
}

/** Nothing was sent now; what to do about few bookings is said at the end. */
function describeDone(run: Run, command: WriteCommand): string {
  const { id, day } = run;
  if (isToBeAccepted(run)) return `${day} was sent already: run ${id}`;
  return (
    `${day} is already done: run ${id}; late bookings: ${command(`replay ${day} --late`)}; ` +
    `to review it again: ${command(`replay ${day}`)}`
  );
}

/** @param warn gets a message about days whose names can't be removed, because their key is lost */
export async function applyConfiguredRetention(
  config: Config,
  ledger: Ledger,
  warn: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const kept = {
    ledger,
    archive: openArchive(config),
    spool: openSpool(config),
    destroyKeys: openKeyDestruction(config, ledger),
  };
  try {
    await applyRetention(kept, config, { now: clock(), timezone: config.timezone });
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    warn(`names that are older than guestNameDays could not be removed: ${error.message}`);
  }
  await ledger.clearRemains(quickRewrite);
  if (config.file.removeAfterDays === undefined || config.file.sftp === undefined) return;
  const { removeConfigured } = await import('./remove-sent.js');
  await removeConfigured(config, ledger, warn, signal);
}
