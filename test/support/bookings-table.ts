import type { Settings } from './day-folder.js';

/** The columns of the table, named as a booking system would name them. */
const columns = {
  ServiceId: 'hotel_id',
  BookingReferenceId: 'reference',
  BookingClientName: 'guest_name',
  ProviderName: 'provider',
  ProviderHotelId: 'provider_hotel_id',
  CheckInDate: 'check_in',
  CheckOutDate: 'check_out',
};

/** The settings' `source`: a day of that table. */
export function tableSource({ url }: { readonly url: string }, gate?: { readonly column: string }): Settings {
  const selected = [...Object.values(columns), ...(gate ? [gate.column] : [])];
  const query = `SELECT ${selected.join(', ')} FROM bookings
    WHERE booked_at >= :dayStart AND booked_at < :dayEnd ORDER BY id`;
  return { kind: 'sql', url, query, columns, path: undefined };
}

/**
 * Statements that create the table in PostgreSQL: the bookings of makeBookings, all on the tests' day, plus
 * one that is a second too early and one that is too late. The server generates them, as there may be very many.
 */
export function postgresTable(count: number): string {
  return `CREATE TABLE bookings AS SELECT n AS id,
       CASE n WHEN 0 THEN '2026-11-19T22:59:59Z' WHEN ${count + 1} THEN '2026-11-20T23:00:00Z'
         ELSE '2026-11-20T10:00:00Z' END::timestamptz AS booked_at,
       100000 + n AS hotel_id, 'BR-' || n AS reference, 'Guest ' || n AS guest_name,
       CASE n % 2 WHEN 0 THEN 'Hotelbeds' ELSE 'Expedia' END AS provider, '00' || n || 'A' AS provider_hotel_id,
       '2026-12-01'::date AS check_in, '2026-12-08'::date AS check_out
     FROM generate_series(0, ${count + 1}) AS n;
     ALTER TABLE bookings ADD PRIMARY KEY (id);
     ANALYZE bookings`;
}

/** The same for MariaDB. */
export function mariadbTable(count: number): string {
  return `CREATE TABLE bookings (id int PRIMARY KEY, booked_at datetime, hotel_id int, reference varchar(40),
       guest_name varchar(100), provider varchar(40), provider_hotel_id varchar(40), check_in date, check_out date);
     INSERT INTO bookings SELECT seq,
       CASE seq WHEN 0 THEN '2026-11-19 22:59:59' WHEN ${count + 1} THEN '2026-11-20 23:00:00'
         ELSE '2026-11-20 10:00:00' END,
       100000 + seq, CONCAT('BR-', seq), CONCAT('Guest ', seq), IF(seq % 2 = 0, 'Hotelbeds', 'Expedia'),
       CONCAT('00', seq, 'A'), '2026-12-01', '2026-12-08'
     FROM seq_0_to_${count + 1}`;
}
