import { InvalidArgumentError } from 'commander';
import { answerWithin, TooLateError } from '../src/base/abort.js';
import { formatCountOf } from '../src/base/format.js';
import { describeError, UsageError } from '../src/base/safe-error.js';
import type { WriteCommand } from '../src/base/shell.js';
import type { BusinessDay } from '../src/booking/business-day.js';
import { ConfigurationError } from '../src/config/problems.js';
import { canaryToJson } from '../src/ledger/canaries.js';
import { quickRewrite } from '../src/ledger/guests.js';
import type { Ledger, ReadOnlyLedger } from '../src/ledger/ledger.js';
import { listExempt } from '../src/notify/deadlines.js';
import { describeCanary } from '../src/review/canary.js';
import { daysLookedBack, findMissingDays, readKnownDays } from '../src/review/day/missing-days.js';
import type { DayRequest } from '../src/review/day/open-run.js';
import { requireBegun } from '../src/review/day/range-plan.js';
import { runToJson } from '../src/review/day/report.js';
import { type DayResult, type ReviewParts, reviewDay } from '../src/review/review-day.js';
import { removeSentFiles } from '../src/review/stored/remove-sent.js';
import {
  applyRetention,
  findDueDay,
  findTrustedInstant,
  removeUnknownDue,
} from '../src/review/stored/retention.js';
import { listSuspects, suspectsReported } from '../src/review/suspects/listing.js';
import { renderNotes } from '../src/rules/finding.js';
import { isGoodSoFar } from '../src/rules/good-day.js';
import {
  type AcceptanceKind,
  type DeliveryKind,
  hasWork,
  isToBeAccepted,
  type Run,
  type Trigger,
} from '../src/rules/run.js';
import { ArchiveError } from '../src/storage/archive.js';
import { KeyError } from '../src/storage/day-keys.js';
import { SftpError } from '../src/transports/sftp/sftp.js';
import { type App, recordOpening } from './app.js';
import { clock } from './clock.js';
import { flag, option } from './command.js';
import { type ExitCode, exitCode, exitCodeOf } from './exit-code.js';
import { breaksOff } from './failure.js';
import { followUpAndSay, followUpCanaries, followUpMeanwhile, saveReport } from './follow-up.js';
import { readRunDetails, renderClosing, renderWarnings } from './run-summary.js';
import { findMailbox } from './verdict-mails.js';

export type ReviewRequest = DayRequest & {
  readonly trigger: Trigger;
  /** Leaves the steps to workers once the day is collected. */
  readonly detach?: boolean;
  /** Prints of a good night only its warnings. */
  readonly isQuiet?: boolean;
};

/** The main job: reviews one business day and returns the exit code. */
export async function runReview(app: App, day: BusinessDay, request: ReviewRequest): Promise<number> {
  requireBegun(day, clock());
  if (request.detach && app.config.queue.kind === 'in-process')
    throw new UsageError('--detach leaves the steps to workers: set queue to redis://…');
  return reportingBreakOff(app, day.iso, () => review(app, day, request));
}

/** A day that breaks off has perhaps no run that could tell: its observers do. */
export async function reportingBreakOff<Result>(
  { notify, signal }: App,
  day: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted && breaksOff(error)) notify({ type: 'review-broke-off', day, error });
    throw error;
  }
}

async function review(
  app: App,
  day: BusinessDay,
  { detach = false, isQuiet = false, ...request }: ReviewRequest,
): Promise<number> {
  const { config, signal } = app;
  const release = isQuiet ? app.holdBack() : undefined;
  const parts = await app.review(!detach);
  const { recorded, ...callbacks } = recordOpening(parts.ledger, request, app);
  const stopFollowing = followUpMeanwhile(app);
  try {
    const asked = { ...request, day, configuredDelivery: config.delivery };
    const { run } = await reviewDay(asked, parts, signal, {
      ...callbacks,
      async followUp(result) {
        await stopFollowing();
        const isHeld = isQuiet && isGoodNight(result.run, { detach, timezone: day.zone });
        if (!isHeld) release?.();
        await followUp(app, day, parts, { ...result, detach, isHeld });
      },
    });
    return codeAfter(run, detach);
  } catch (error) {
    release?.();
    throw error;
  } finally {
    await stopFollowing();
    await recorded();
  }
}

function codeAfter(run: Run, detach: boolean): ExitCode {
  return detach && hasWork(run) ? exitCode.done : exitCodeOf(run);
}

/** Whether nobody has to know more than its warnings. What is left to workers is theirs to tell. */
function isGoodNight(
  run: Run,
  { detach, timezone }: { readonly detach: boolean; readonly timezone: string },
): boolean {
  return (detach && hasWork(run)) || (exitCodeOf(run) === exitCode.done && isGoodSoFar(run, timezone));
}

/** Says what became of the run, and does what follows from it: cases, messages, the saved report, retention. */
async function followUp(
  app: App,
  day: BusinessDay,
  { ledger, reader }: ReviewParts,
  { run, wasDone, detach, isHeld }: DayResult & Readonly<Record<'detach' | 'isHeld', boolean>>,
): Promise<void> {
  const { config, signal, command, say } = app;
  /** What is said of a good night may be held back, but no warning. */
  const warn = isHeld ? app.warn : say;
  app.endProgress();
  if (wasDone) say(describeDone(run, command));
  const missed = signal.aborted ? [] : await followUpCanaries({ ...app, warn });
  const { rejects, warnings, ...details } = await readRunDetails(ledger, run, clock());
  const { placeUnit } = reader;
  const style = { ...app, now: clock(), timezone: day.zone, placeUnit, isOnlooker: detach };
  const closing = { ...style, mailbox: findMailbox(config) ?? null };
  say(renderClosing(run, { rejects, warnings, ...details }, closing));
  const found = isHeld ? renderWarnings(run, closing) : [];
  if (found.length > 0) warn([`${day.iso}: run ${run.id}`, ...found].join('\n'));
  for (const canary of missed.filter(({ runId }) => isHeld || runId !== run.id)) {
    const finding = describeCanary(canaryToJson(canary, clock()), day.zone);
    warn([`${canary.day}: run ${canary.runId}`, ...renderNotes([finding], command), ''].join('\n'));
  }
  await warnOfMissingDays(app, ledger, day);
  const listed = await listSuspects(ledger, run, suspectsReported);
  app.report({ ...runToJson(run, { ...style, listed }), ...details });
  if (!signal.aborted) await followUpAndSay({ ...app, warn });
  await saveReport(app, run);
  if (!signal.aborted) await applyConfiguredRetention({ ...app, warn });
}

/** Names the days without a run up to this one. Nothing is missing while it is not over: its nightly run is still to come. */
async function warnOfMissingDays(
  { config, command, caution }: App,
  ledger: ReadOnlyLedger,
  day: BusinessDay,
): Promise<void> {
  if (day.lastInstant.getTime() >= clock()) return;
  const known = await readKnownDays(ledger, day);
  const { days, ranges } = findMissingDays(day, known, listExempt(config.deadline));
  if (days.length === 0) return;
  const replays = ranges.map(({ from, to }) =>
    command(
      `replay ${from} ${from === to ? '' : `--to ${to} `}--missing${from === to ? '' : ' --reason "no run"'}`,
    ),
  );
  caution(
    [
      `without a run, of the ${daysLookedBack} days up to ${day.iso}: ${days.join(', ')}; to send them:`,
      ...replays,
    ].join('\n  '),
  );
}

/** Nothing was sent now; what somebody has to accept is said at the end. */
function describeDone(run: Run, command: WriteCommand): string {
  const { id, day } = run;
  if (isToBeAccepted(run)) return `${day} was sent already: run ${id}`;
  return (
    `${day} is already done: run ${id}; late bookings: ${command(`replay ${day} --late`)}; ` +
    `to review it again: ${command(`replay ${day}`)}`
  );
}

/** @param app `warn` gets a message about days whose names can't be removed, because their key is lost */
export async function applyConfiguredRetention(app: App): Promise<void> {
  const { config, warn } = app;
  const { guestNameDays, file, timezone } = config;
  const ledger = await app.ledger();
  const stores = { ledger, archive: app.archive(), spool: app.spool(), keys: app.keys() };
  try {
    await applyRetention(stores, config, { now: clock(), timezone });
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    warn(`names that are older than guestNameDays could not be removed: ${error.message}`);
  }
  const now = await findTrustedInstant(ledger, clock());
  if (now !== undefined) await removeUnknown(app, ledger, findDueDay(guestNameDays, { now, timezone }));
  await ledger.guests.clearRemains(quickRewrite);
  if (now !== undefined && file.removeAfterDays !== undefined && file.sftp !== undefined)
    await removeSent(app, ledger, findDueDay(file.removeAfterDays, { now, timezone }));
}

/** How long the archive may take to list what it holds. */
const listMs = 30_000;

/** An archive that is away is no reason for a run to fail: the next one tries again. */
async function removeUnknown(app: App, ledger: Ledger, before: string): Promise<void> {
  const parts = { ledger, archive: app.archive(), spool: app.spool() };
  try {
    await answerWithin(listMs, removeUnknownDue(parts, before));
  } catch (error) {
    if (!(error instanceof ArchiveError || error instanceof TooLateError)) throw error;
    app.warn(`files of unknown runs could not be looked for in the archive: ${describeError(error)}`);
  }
}

/** `--delivery`, which `withDelivery` applies. */
export const delivery = option('--delivery <how>', 'how to reach the service (default: as configured)', {
  choices: ['body', 'file'],
});

export const acceptVolume = flag(
  '--accept-volume',
  'accept far fewer bookings than usual: send the day, or call it good if it was sent',
);

/** What the flags accept, and who typed them. */
export function readAccepts(
  given: { readonly acceptVolume: boolean; readonly acceptAffected?: boolean },
  user: string,
): DayRequest['accepts'] {
  const kinds: readonly AcceptanceKind[] = [
    ...(given.acceptVolume ? ['volume' as const] : []),
    ...(given.acceptAffected ? ['affected' as const] : []),
  ];
  return kinds.length === 0 ? undefined : { kinds, by: user };
}

/** `--out`, which `checkOut` checks. */
export const out = option(
  '--out <dir>',
  'with --dry-run: write what would be sent to this folder (with guest names)',
);

/** Some text, for `--reason`. */
export function readReason(text: string): string {
  const reason = text.trim();
  if (reason === '') throw new InvalidArgumentError('expected some text');
  return reason;
}

export function checkOut(given: { readonly dryRun: boolean; readonly out: string | undefined }): void {
  if (given.out !== undefined && !given.dryRun) throw new InvalidArgumentError('--out requires --dry-run');
}

/**
 * The app with that delivery instead of the configured one.
 *
 * @param file the configuration's name
 */
export function withDelivery(app: App, file: string, kind: DeliveryKind = app.config.delivery): App {
  // A configuration for delivery by body may lack the server.
  if (kind === 'file' && app.config.file.sftp === undefined) {
    throw new ConfigurationError(file, [
      { path: 'file.sftp', message: 'expected the SFTP server, as --delivery is file, got: nothing' },
    ]);
  }
  return { ...app, config: { ...app.config, delivery: kind } };
}

/** Removes our files from the SFTP server. A failure is reported, but fails no run. */
async function removeSent(app: App, ledger: Ledger, before: string): Promise<void> {
  const { warn, signal } = app;
  try {
    const parts = { ledger, spool: app.spool(), sftp: app.sftp(), timezone: app.config.timezone, clock };
    const { denied, isNewlyDenied } = await removeSentFiles(parts, before, signal);
    if (isNewlyDenied)
      warn(
        `the SFTP server refuses to remove our files (${formatCountOf(denied, 'file')} so far), which is tried again once a week: ask its ` +
          'operator for the right to remove files below VerifyMappings, or to remove them, or unset file.removeAfterDays',
      );
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof SftpError)) throw error;
    warn(
      `old files could not be removed from the SFTP server; it will be tried again later: ${error.message}`,
    );
  }
}
