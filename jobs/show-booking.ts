import { renderHistories, toHistory } from '../src/cli/booking-history.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
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
    const bookings = traces.map((trace) => toHistory(trace, { withAnswers: answers }));
    terminal.answer(renderHistories(reference, bookings, terminal.command), { reference, bookings });
    return bookings.length > 0 ? exitCode.done : exitCode.failed;
  });
}
