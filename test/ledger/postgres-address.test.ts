import { expect, it } from 'vitest';
import { placeOf } from '../../src/ledger/postgres/database.js';

it.each([
  ['postgres://ada:s3cret@db.example:5433/reviews', 'postgres://ada@db.example:5433/reviews'],
  [
    'postgres://db.example/reviews?password=s3cret&sslmode=require',
    'postgres://db.example/reviews?sslmode=require',
  ],
  ['postgres://db.example/reviews?sslpassword=s3cret', 'postgres://db.example/reviews'],
])('the address of a PostgreSQL ledger is shown without its secrets: %s', (url, shown) => {
  expect(placeOf(url)).toBe(shown);
});
