import { expect, it } from 'vitest';
import { describeHost, mayContainUnescapedPassword } from '../../src/http/url.js';

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
