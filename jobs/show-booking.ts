import { businessDayAt } from '../src/booking/business-day.js';
import { renderGuestHistories, renderHistories } from '../src/cli/booking-history.js';
import type { GuestOptions } from '../src/cli/commands/options.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { toHistoryReport } from '../src/report/booking-history.js';
import { type ReadHistoriesOptions, readHistories } from '../src/report/read-histories.js';
import type { Action } from '../src/review/audit.js';
import { canaryToJson } from '../src/review/canary.js';
import { renderShownCanary } from '../src/review/canary-words.js';
import { findBookingsOf } from '../src/review/guests/guest.js';
import type { ReadOnlyLedger } from '../src/review/ledger.js';
import type { ReadOnlyMailLedger } from '../src/verdict-mails/mail-log.js';
import { recordAction, recordLook } from './audit.js';
import { clock } from './clock.js';
import { withReadOnlyLedger } from './ledgers.js';
import { readSilence } from './silence.js';
import type { Terminal } from './terminal.js';

interface ShowOptions {
  readonly answers: boolean;
}

/** Shows the history of a booking, or of all bookings of a name; exits with 1 if no run contains any. */
export function showBooking(
  config: Config,
  query: GuestOptions,
  options: ShowOptions,
  terminal: Terminal,
): Promise<number> {
  return 'reference' in query
    ? showReference(config, query.reference, options, terminal)
    : showGuest(config, query.name, options, terminal);
}

async function showReference(
  config: Config,
  reference: string,
  { answers }: ShowOptions,
  terminal: Terminal,
): Promise<number> {
  const reportNone = (notice: string): number => {
    terminal.answer(renderHistories(reference, [], terminal.command), { reference, bookings: [] });
    terminal.say(notice);
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const canary = await ledger.findCanaryByReference(reference);
    if (canary) {
      const style = { now: clock(), command: terminal.command, timezone: config.timezone };
      const report = { reference, canary: canaryToJson(canary, clock()), bookings: [] };
      terminal.answer(renderShownCanary(canary, style), report);
      return exitCode.done;
    }
    const traced = await readHistories(ledger, reference, await readOptions(config, ledger, answers));
    const histories = traced.map(({ history }) => history);
    const found = histories.length;
    // Typed text that is not a known reference may be a name.
    const subject = found > 0 ? reference : undefined;
    await recordShow(ledger, { subject, details: { found, answers } }, terminal);
    const hotels = { showsHotels: await hasHotels(ledger) };
    const bookings = histories.map(toHistoryReport);
    terminal.answer(renderHistories(reference, histories, terminal.command, hotels), { reference, bookings });
    return found > 0 ? exitCode.done : exitCode.failed;
  });
}

async function showGuest(
  config: Config,
  name: string,
  { answers }: ShowOptions,
  terminal: Terminal,
): Promise<number> {
  const reportNone = (notice: string): number => {
    const none = { bookings: [], unreferenced: 0 };
    terminal.answer(renderGuestHistories(none), none);
    terminal.say(notice);
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const { references, unreferenced } = await findBookingsOf(ledger, name, terminal.signal);
    const histories = [];
    const options = await readOptions(config, ledger, answers);
    for (const reference of references)
      for (const { history } of await readHistories(ledger, reference, options))
        histories.push({ reference, ...history });
    const found = histories.length + unreferenced;
    await recordShow(ledger, { details: { found, answers, byName: true } }, terminal);
    const hotels = { showsHotels: await hasHotels(ledger) };
    const bookings = histories.map((history) => ({
      reference: history.reference,
      ...toHistoryReport(history),
    }));
    const text = renderGuestHistories({ bookings: histories, unreferenced }, hotels);
    terminal.answer(text, { bookings, unreferenced });
    return found > 0 ? exitCode.done : exitCode.failed;
  });
}

async function readOptions(
  config: Config,
  ledger: ReadOnlyMailLedger,
  answers: boolean,
): Promise<ReadHistoriesOptions> {
  const now = clock();
  const today = businessDayAt(new Date(now), config.timezone).iso;
  return { answers, silence: await readSilence(config, ledger, now), today, now };
}

async function hasHotels({ hotels }: ReadOnlyLedger): Promise<boolean> {
  return (await hotels.latestLoad()) !== undefined;
}

function recordShow(
  ledger: ReadOnlyLedger,
  action: Omit<Action, 'action'>,
  terminal: Terminal,
): Promise<void> {
  // The service's words may name other guests, so they are not shown without a record.
  const record = action.details?.answers === true ? recordAction : recordLook;
  return record(ledger, { action: 'show', ...action }, terminal);
}
