import { describe, expect, it } from 'vitest';
import { createOwnAddress } from '../../../src/desk/access/access.js';

const published = 'https://review.example.com';
const [own, local] = [createOwnAddress(`${published}/`), createOwnAddress(undefined)];
const headersOf = (host: string | undefined, origin?: string) => ({
  ...(host !== undefined && { host }),
  ...(origin !== undefined && { origin }),
});

describe('under an https address of our own', () => {
  it.each(['review.example.com', 'REVIEW.example.com:443', 'review.example.com:8443'])(
    'people sign in where the proxy passes on %s, but not over plain http',
    (host) => {
      expect(own.findFault(headersOf(host, published))).toBeUndefined();
      expect(own.isSecure({ host })).toBe(true);
      expect(own.findFault(headersOf(host, 'http://review.example.com'))).toContain('needs https');
    },
  );

  it.each([
    ...['127.0.0.1:8080', 'backend', 'review.example.com.'],
    ...['review.example.com.evil.example', '', undefined],
  ])('nobody does where it passes on %s, and reads what it must pass on', (host) => {
    const said = 'must pass on the header Host as the browser sent it (review.example.com)';
    for (const origin of [published, 'http://127.0.0.1:8080', undefined])
      expect(own.findFault(headersOf(host, origin))).toContain(said);
    expect(own.isSecure(headersOf(host))).toBe(true);
  });
});

it('Without one, cookies are for TLS under each name but those of this machine', () => {
  for (const host of ['review.example.com', '10.0.0.5', 'localhost.example.com', '127.0.0.1.example.com', ''])
    expect([host, local.isSecure({ host })]).toEqual([host, true]);
  for (const host of ['127.0.0.1:8080', 'localhost', '[::1]:80', 'LOCALHOST:1'])
    expect([host, local.isSecure({ host }), local.findFault(headersOf(host, `http://${host}`))]).toEqual([
      ...[host, false, undefined],
    ]);
});

it.each<[string, string, boolean]>([
  [published, 'review.example.com', true],
  ['https://review.example.com:8443', 'review.example.com:8443', true],
  ['http://127.0.0.1:8080', '127.0.0.1:8080', true],
  ['http://localhost', 'LOCALHOST:80', true],
  ['https://evil.example', 'review.example.com', false],
  ['https://review.example.com.evil.example', 'review.example.com', false],
  ['https://review.example.com:8443', 'review.example.com', false],
  ['https://review.example.com/', 'review.example.com', false],
  ['http://127.0.0.1:1', '127.0.0.1:8080', false],
  ['ftp://review.example.com', 'review.example.com', false],
  ['https://', '', false],
  ['https://review.example.com, https://evil.example', 'review.example.com', false],
])('The origin %s of a form under %s: is it ours? %s', (origin, host, isOurs) => {
  expect([own.isOurs({ origin, host }), local.isOurs({ origin, host })]).toEqual([isOurs, isOurs]);
});

it('It is unknown to a caller that sends none', () => {
  for (const origin of [undefined, 'null'])
    expect(own.isOurs(headersOf('review.example.com', origin))).toBeUndefined();
});
