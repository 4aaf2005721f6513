import type { BookingsDatabase } from './bookings-database.js';
import { createMariadbBookings } from './mariadb-bookings.js';
import { createPostgresBookings } from './postgres-bookings.js';
import { useMariadb } from './suite-mariadb.js';
import { usePostgres } from './suite-postgres.js';

export interface BookingsDatabaseKind {
  readonly name: string;
  /** Starts a server for the tests of the current suite; what comes back makes a database with a day of bookings. */
  use(): (count: number) => Promise<BookingsDatabase>;
}

/** For `describe.each`. */
export const bookingsDatabases: readonly BookingsDatabaseKind[] = [
  {
    name: 'PostgreSQL',
    use() {
      const postgres = usePostgres();
      return (count) => createPostgresBookings(postgres(), count);
    },
  },
  {
    name: 'MariaDB',
    use() {
      const mariadb = useMariadb();
      return (count) => createMariadbBookings(mariadb(), count);
    },
  },
];
