import { businessDayAt, goBack } from '../src/booking/business-day.js';
import { type ReviewEndangeredParts, reviewEndangered } from '../src/cases/watch/review-endangered.js';
import { type WatchLedger, type WatchReport, watchMappings } from '../src/cases/watch/watch-mappings.js';
import { type ExitCode, exitCode, exitCodeOf, worstOf } from '../src/cli/exit-code.js';
import { renderSentAgain, renderWatch } from '../src/cli/watch.js';
import type { Config } from '../src/config/load.js';
import type { NotifyAll } from '../src/events/events.js';
import { DayBusyError } from '../src/review/refusals.js';
import type { Run } from '../src/review/run.js';
import type { VerdictMailLedger } from '../src/verdict-mails/mail-log.js';
import { clock } from './clock.js';
import { followUpSync } from './follow-up.js';
import { openLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';

/** What sends bookings for review. */
type Review = ReviewEndangeredParts['review'];

/** `hotel-review watch`: compares what moved in the local copy of the mappings with the upcoming stays. */
export async function watchOnce(config: Config, terminal: Terminal): Promise<number> {
  const { ledger, review, close } = await open(config, terminal);
  try {
    if (await ledger.mappings.isEmpty()) {
      const hint = `To fill it: ${terminal.command('mappings sync')}`;
      const nothing = { checkedMoves: 0, findings: [], ...(review && reportSent([])) };
      terminal.answer(`The local copy of the mappings is empty. ${hint}\n`, nothing);
      return exitCode.done;
    }
    const { notify, say: warn, signal, command } = terminal;
    await followUpSync(config, { ledger, notify, warn, signal });
    const { counts, findings } = await watchCopy(config, { ledger, notify }, signal);
    const sent = review ? await sendOnce(config, review, terminal) : undefined;
    terminal.endProgress();
    terminal.answer(
      renderWatch({ counts, findings }, command) + (sent ? renderSentAgain(sent.runs, command) : ''),
      {
        checkedMoves: counts.checkedMoves,
        findings,
        ...(sent && reportSent(sent.runs)),
      },
    );
    return sent ? sent.exitCode : exitCode.done;
  } finally {
    await close();
  }
}

/** Opens what sends bookings only if it may be needed. */
async function open(
  config: Config,
  terminal: Terminal,
): Promise<{ ledger: VerdictMailLedger; review?: Review; close: () => Promise<void> }> {
  if (!config.watch.review) {
    const ledger = await openLedger(config);
    return { ledger, close: () => ledger.close() };
  }
  const { composeReview } = await import('./compose.js');
  const { parts, ledger, close } = await composeReview(config, terminal);
  return { ledger, review: parts, close };
}

interface Sent {
  readonly runs: readonly Run[];
  readonly exitCode: ExitCode;
}

/** What is in danger is shown even if the day is busy. */
async function sendOnce(config: Config, review: Review, { say, signal }: Terminal): Promise<Sent> {
  try {
    const runs = await sendEndangered(config, review, signal);
    return { runs, exitCode: worstOf(runs.map(exitCodeOf)) };
  } catch (error) {
    if (!(error instanceof DayBusyError)) throw error;
    say(`${error.message}; watch again once it has ended`);
    return { runs: [], exitCode: exitCode.busy };
  }
}

function reportSent(runs: readonly Run[]) {
  return {
    sent: runs.reduce((sum, { counts }) => sum + counts.delivered, 0),
    runs: runs.map(({ id, day, state, counts }) => ({ runId: id, day, state, counts })),
  };
}

/**
 * Sends the bookings in danger on the account's day.
 *
 * @param mayPass whether a run that failed is resumed; by default it is
 */
export function sendEndangered(
  { timezone, schedule }: Config,
  review: Review,
  signal: AbortSignal,
  mayPass: ReviewEndangeredParts['mayPass'] = () => true,
): Promise<readonly Run[]> {
  const today = businessDayAt(new Date(clock()), timezone);
  const resumesSince = goBack(today, schedule.catchUpDays).iso;
  return reviewEndangered({ review, today, resumesSince, mayPass }, signal);
}

/** A watch on the account's day. */
export function watchCopy(
  { timezone, watch }: Config,
  { ledger, notify }: { readonly ledger: WatchLedger; readonly notify: NotifyAll },
  signal: AbortSignal,
): Promise<WatchReport> {
  const today = businessDayAt(new Date(clock()), timezone).iso;
  return watchMappings({ ledger, today, reviews: watch.review, clock, notify }, signal);
}
