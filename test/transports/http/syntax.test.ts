import { describe, expect, it } from 'vitest';
import {
  describeHost,
  mayContainUnescapedPassword,
  readRetryAfter,
} from '../../../src/transports/http/transport.js';

const now = new Date('2026-11-20T02:30:00Z');

describe('the wait that Retry-After asks for', () => {
  it.each([
    ['seconds', '120', 120_000],
    ['seconds with blanks around', ' 7 ', 7_000],
    ['a date', 'Fri, 20 Nov 2026 02:31:30 GMT', 90_000],
    ['a date in the older form', 'Friday, 20-Nov-26 02:30:05 GMT', 5_000],
    ['more seconds than a number can hold', '9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ])('is read from %s', (_what, header, milliseconds) => {
    expect(readRetryAfter(header, now)).toBe(milliseconds);
  });

  it.each([
    ['no header', undefined],
    ['an empty one', ''],
    ['no wait at all', '0'],
    ['a negative number', '-5'],
    ['a fraction', '1.5'],
    ['an exponent', '1e3'],
    ['words', 'soon'],
    ['a date that has passed', 'Fri, 20 Nov 2026 02:29:59 GMT'],
    ['a date without a zone', 'Fri, 20 Nov 2026 02:31:30'],
    ['an invalid date', 'Xxx, 99 Yyy 2026 02:31:30 GMT'],
  ])('is left to the back-off with %s', (_what, header) => {
    expect(readRetryAfter(header, now)).toBeUndefined();
  });
});

it.each([
  'postgres://reader:p@ss/word@db.example.com/hotel',
  'mysql://reader:pass?word@db.example.com/hotel',
  'redis://:pass#word@cache.example.com',
])('recognises an address whose password ended the host early: %s', (address) => {
  expect(mayContainUnescapedPassword(address)).toBe(true);
});

it.each([
  'postgres://reader:p@ss@db.example.com/hotel?sslmode=require',
  'postgres://reader:p%40ss%2Fword@db.example.com/hotel',
  'redis://cache.example.com:6379/0',
  'sqlite:./data/a@b.db',
])('accepts any other address: %s', (address) => {
  expect(mayContainUnescapedPassword(address)).toBe(false);
});

it.each([
  ['https://user:secret@service.example.com/api/3.0?key=secret#x', 'service.example.com:443'],
  ['http://127.0.0.1/api', '127.0.0.1:80'],
  ['http://[::1]:8080/api', '[::1]:8080'],
])('names only host and port of %s', (address, host) => {
  expect(describeHost(address)).toBe(host);
});
