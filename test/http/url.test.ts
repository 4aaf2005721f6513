import { expect, it } from 'vitest';
import { mayContainUnescapedPassword } from '../../src/http/url.js';

it.each([
  'postgres://reader:p@ss/word@db.example.com/hotel',
  'mysql://reader:pass?word@db.example.com/hotel',
  'redis://:pass#word@cache.example.com',
])('an address whose host was ended early by a sign of its password is told: %s', (address) => {
  expect(mayContainUnescapedPassword(address)).toBe(true);
});

it.each([
  'postgres://reader:p@ss@db.example.com/hotel?sslmode=require',
  'postgres://reader:p%40ss%2Fword@db.example.com/hotel',
  'redis://cache.example.com:6379/0',
  'sqlite:./data/a@b.db',
])('any other is not: %s', (address) => {
  expect(mayContainUnescapedPassword(address)).toBe(false);
});
