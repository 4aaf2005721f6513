import { formatCount } from '../../src/base/format.js';
import { explainNothingSent } from '../../src/rules/describe-day.js';
import { dayList } from '../booking-list.js';

/** The bookings that the service refused. */
export default dayList({
  name: 'refused',
  examples: `
What a later run of the day delivered is not among them. The service's own words
may name a guest: to see those about one booking, use show REFERENCE --answers.

Examples:
  hotel-review refused                              yesterday's bookings
  hotel-review refused 2026-11-20 --csv refused.csv those of a day, as a file`,
  nameRun: ({ latest }) => latest,
  describe: ({ day, id, state }, count, outcome) =>
    count === 0
      ? (explainNothingSent(outcome) ?? `${day}: the service refused no booking (run ${id}, ${state}).`)
      : `${day}: bookings that the service refused: ${formatCount(count)} (run ${id})`,
  note: (command) => `What the service said about one: ${command('show REFERENCE --answers')}`,
});
