import { renderHistories, toHistory } from '../src/cli/booking-history.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { maskAnswers } from '../src/review/stored/masked-answers.js';
import { recordAction, recordLook } from './audit.js';
import { withReadOnlyLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';

/** Shows the history of a booking; exits with 1 if no run contains it. */
export async function showBooking(
  config: Config,
  reference: string,
  { answers }: { readonly answers: boolean },
  terminal: Terminal,
): Promise<number> {
  const reportNone = (notice: string): number => {
    terminal.answer(renderHistories(reference, [], terminal.command), { reference, bookings: [] });
    terminal.say(notice);
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const traces = await ledger.trace(reference);
    const record = answers ? recordAction : recordLook;
    const found = traces.length;
    // What was typed and is no reference may be a name.
    const subject = found > 0 ? reference : undefined;
    await record(ledger, { action: 'show', subject, details: { found, answers } }, terminal);
    const shown = answers ? await Promise.all(traces.map((trace) => maskAnswers(ledger, trace))) : traces;
    const bookings = shown.map((trace) => toHistory(trace, { withAnswers: answers }));
    terminal.answer(renderHistories(reference, bookings, terminal.command), { reference, bookings });
    return bookings.length > 0 ? exitCode.done : exitCode.failed;
  });
}
