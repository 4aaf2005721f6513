import { formatCount } from '../../src/base/format.js';
import { explainNothingSent } from '../../src/rules/describe-day.js';
import { dayList } from '../booking-list.js';

/** The bookings of a day by file that could not be in the file and went by body. */
export default dayList({
  name: 'posted',
  examples: `
Their verdicts come by e-mail only.

Examples:
  hotel-review posted                              yesterday's bookings
  hotel-review posted 2026-11-20 --csv posted.csv  those of a day, as a file`,
  nameRun: ({ run }) => run,
  describe({ day, id, state }, count, outcome) {
    const { runs } = outcome;
    const nothingSent = explainNothingSent(outcome);
    if (nothingSent !== undefined)
      return count === 0
        ? nothingSent
        : `${nothingSent}\nBookings that would go by body: ${formatCount(count)}`;
    if (!runs.some(({ delivery }) => delivery === 'file'))
      return `${day} went by body as a whole: there is no file (run ${id}, ${state}).`;
    return count === 0
      ? `${day}: no booking went by body (run ${id}, ${state}).`
      : `${day}: bookings that went by body: ${formatCount(count)} (run ${id})`;
  },
  note: () => 'They cannot be in the file, and their verdicts come by e-mail only.',
});
