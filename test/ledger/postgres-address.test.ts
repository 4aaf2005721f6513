import { expect, it } from 'vitest';
import { locationOf } from '../../src/ledger/postgres/database.js';

it.each([
  ['postgres://ada:s3cret@db.example:5433/reviews', 'postgres://db.example:5433/reviews'],
  ['postgres://db.example/reviews?password=s3cret&sslmode=require', 'postgres://db.example:5432/reviews'],
  ['postgres://ada@%2Fvar%2Frun%2Fpostgresql/reviews', 'postgres://%2Fvar%2Frun%2Fpostgresql/reviews'],
  ['postgres:///reviews?host=/run/pg&user=ada&password=s3cret', 'postgres:///reviews?host=%2Frun%2Fpg'],
])(
  'the address of a PostgreSQL ledger is shown with host and port, without user and secrets: %s',
  (url, shown) => {
    expect(locationOf(url)).toBe(shown);
  },
);
