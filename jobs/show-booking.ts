import { renderHistories, toHistory, toHistoryReport } from '../src/cli/booking-history.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { createHotelComparer } from '../src/mappings/hotels/compare-hotels.js';
import { maskAnswers } from '../src/review/stored/masked-answers.js';
import { findTracedHotels } from '../src/review/verdicts/booked-hotels.js';
import { recordAction, recordLook } from './audit.js';
import { clock } from './clock.js';
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
    const { mappings, hotels } = ledger;
    const compare = createHotelComparer({ hotels, clock });
    const pairs = await findTracedHotels(traces, { mappings, compare });
    const histories = shown.map((trace, index) =>
      toHistory(trace, { withAnswers: answers, hotels: pairs[index] }),
    );
    const showsHotels = (await hotels.latestLoad()) !== undefined;
    terminal.answer(renderHistories(reference, histories, terminal.command, { showsHotels }), {
      reference,
      bookings: histories.map(toHistoryReport),
    });
    return histories.length > 0 ? exitCode.done : exitCode.failed;
  });
}
