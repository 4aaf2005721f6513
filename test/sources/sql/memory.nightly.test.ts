import { beforeEach, describe, expect, it } from 'vitest';
import { useMariadb, usePostgres } from '../../support/use-servers.js';
import { measureMemory } from './day-table.js';

const mariadb = useMariadb();
const postgres = usePostgres();

const databases = [
  {
    name: 'PostgreSQL',
    create: () => postgres().createDatabase(),
    many: `SELECT n AS serviceid, n || repeat('x', 1000) AS bookingclientname
      FROM generate_series(1, 200000) AS n WHERE :day::text IS NOT NULL`,
    wide: `SELECT n AS serviceid, repeat('x', 500000) AS note
      FROM generate_series(1, 1200) AS n WHERE :day::text IS NOT NULL`,
  },
  {
    name: 'MariaDB',
    create: () => mariadb().createDatabase(),
    many: `SELECT seq AS ServiceId, CONCAT(seq, REPEAT('x', 1000)) AS BookingClientName
      FROM seq_1_to_200000 WHERE :day IS NOT NULL`,
    wide: `SELECT seq AS ServiceId, REPEAT('x', 500000) AS note FROM seq_1_to_1200 WHERE :day IS NOT NULL`,
  },
];

describe.each(databases)('the rows of $name are read in constant memory', ({ create, many, wide }) => {
  let url = '';
  beforeEach(async () => {
    url = await create();
  });

  it('however many there are', async () => {
    const { rows, growth } = await measureMemory({ url, query: many });
    expect(rows).toBe(200_000);
    expect(growth).toBeLessThan(100_000_000);
  });

  it('however wide they are, whether the columns are used or not', async () => {
    const { rows, growth } = await measureMemory({ url, query: wide });
    expect(rows).toBe(1_200);
    expect(growth).toBeLessThan(250_000_000);
  });
});
