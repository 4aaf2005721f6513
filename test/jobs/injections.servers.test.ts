import { describe, it } from 'vitest';
import { usePostgres } from '../support/use-servers.js';
import { expectNoColumns } from './guarded-place.js';

describe('a column that does not exist', () => {
  const postgres = usePostgres();

  it('finds nothing for a table, and fails the day', () =>
    expectNoColumns(async () => {
      const url = await postgres().createDatabase();
      await postgres().query(url, 'CREATE TABLE bookings AS SELECT 7 AS "ServiceId"');
      const query = "SELECT * FROM bookings WHERE :day::text <> ''";
      return { kind: 'sql', url: postgres().overTcp(url), query };
    }));
});
