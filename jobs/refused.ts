import { formatCount } from '../src/text/format.js';
import { dayList } from './booking-list.js';

/** The bookings that the service refused. */
export default dayList({
  name: 'refused',
  examples: `
Of the latest run of the day. The service's own words may name a guest: to see
those about one booking, use show REFERENCE --answers.

Examples:
  hotel-review refused                              yesterday's bookings
  hotel-review refused 2026-11-20 --csv refused.csv those of a day, as a file`,
  // What an earlier run could not deliver was sent again.
  choose: (runs) => runs.slice(0, 1),
  describe: ({ day, id, state }, count) =>
    count === 0
      ? `${day}: the service refused no booking (run ${id}, ${state}).`
      : `${day}: bookings that the service refused: ${formatCount(count)} (run ${id})`,
  note: (command) => `What the service said about one: ${command('show REFERENCE --answers')}`,
});
