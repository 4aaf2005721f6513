import { describeSuspects } from '../../src/rules/describe-day.js';
import { dayList } from '../booking-list.js';

/** The bookings that the local copy of the mappings flags. */
export default dayList({
  name: 'suspects',
  examples: `
Examples:
  hotel-review suspects                             yesterday's bookings
  hotel-review suspects 2026-11-20 --csv doubt.csv  those of a day, as a file`,
  nameRun: ({ runs, suspects }) =>
    suspects === null ? undefined : runs.find((run) => run.suspects !== undefined),
  areDoubted: true,
  explainNone: ({ day, id }, command) =>
    `${day} was not compared with the local copy of the mappings, which was empty\nwhen run ${id} started. To fill it: ${command('mappings sync')}`,
  describe: ({ day, id }, count) =>
    count === 0
      ? `${day}: the local copy of the mappings flags no booking (run ${id}).`
      : `${day}: ${describeSuspects(count)} (run ${id})`,
});
