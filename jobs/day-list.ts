import type { Run } from '../src/review/run.js';
import type { WriteCommand } from '../src/text/shell.js';
import { answerBookings, type ListBookings, readBookings, runsLookedAt, toRecords } from './booking-list.js';
import { command, csvOptions, dayOrYesterday } from './command.js';

interface DayList {
  /** Of the command, and of its list in the JSON. */
  readonly name: 'refused' | 'posted' | 'suspects';
  readonly examples: string;
  /** The runs whose bookings are listed, of those of the day; both newest first. */
  readonly choose: (runs: readonly Run[], day: string) => readonly Run[];
  readonly list: ListBookings;
  /** Why none of the day's runs has such a list. */
  readonly explainNone?: (newest: Run, command: WriteCommand) => string;
  readonly describe: (run: Run, count: number, runs: readonly Run[]) => string;
  /** Below a list that is not empty. */
  readonly note?: (command: WriteCommand) => string;
  /** Whether the hotels are shown side by side. */
  readonly areDoubted?: boolean;
}

/** A command that lists bookings of a day, without guests' names. */
export function dayList({ name, examples, choose, list, ...words }: DayList) {
  const { explainNone, describe, note, areDoubted = false } = words;
  return command({
    day: dayOrYesterday,
    options: csvOptions,
    examples,

    async run(app, { day, ...file }) {
      const none = { day, runId: null, state: null, [name]: [] };
      const ledger = await app.findLedger();
      if (!ledger) return app.answerNone(none);
      const all = await ledger.listRuns({ day, limit: runsLookedAt });
      const runs = choose(all, day);
      const [[newest], [run]] = [all, runs];
      if (!newest) return app.answerNone(none, `There is no run of ${day}.`);
      if (!run) return app.answerNone(none, explainNone?.(newest, app.command));
      const bookings = await readBookings(app, ledger, list, [{ day, runs }]);
      const listed = {
        list: bookings,
        areDoubted,
        look: { action: name, subject: day },
        head: describe(run, bookings.count, runs),
        notes: note && bookings.count > 0 ? [note(app.command)] : [],
        json: { day, runId: run.id, state: run.state, [name]: toRecords(bookings, false) },
      };
      return answerBookings(app, ledger, listed, file);
    },
  });
}
