import { describe, expect, it } from 'vitest';
import { createOwnAddress } from '../../src/desk/access/access.js';

const published = 'https://review.example.com';

describe('under an https address of our own', () => {
  const { findFault, isSecure } = createOwnAddress(`${published}/`);

  it.each(['review.example.com', 'REVIEW.example.com:443', 'review.example.com:8443'])(
    'people sign in where the proxy passes on %s',
    (host) => {
      expect(findFault({ host, origin: published })).toBeUndefined();
      expect(isSecure({ host })).toBe(true);
    },
  );

  it.each([
    ...['127.0.0.1:8080', 'backend', 'review.example.com.'],
    ...['review.example.com.evil.example', '', undefined],
  ])('nobody does where it passes on %s, and reads what it must pass on', (host) => {
    for (const origin of [published, 'http://127.0.0.1:8080', undefined])
      expect(findFault({ ...(host !== undefined && { host }), ...(origin && { origin }) })).toMatch(
        /^The proxy must pass on the header Host as the browser sent it \(review\.example\.com\)[^.]*\.$|Host \$host/,
      );
    expect(isSecure({ ...(host !== undefined && { host }) })).toBe(true);
  });

  it('nobody does over plain http', () => {
    expect(findFault({ host: 'review.example.com', origin: 'http://review.example.com' })).toContain(
      'needs https',
    );
  });
});

describe('without one, cookies are for TLS', () => {
  const { isSecure, findFault } = createOwnAddress(undefined);
  it.each(['review.example.com', '10.0.0.5', 'localhost.example.com', '127.0.0.1.example.com', ''])(
    'under %j',
    (host) => expect(isSecure({ host })).toBe(true),
  );
  it.each(['127.0.0.1:8080', 'localhost', '[::1]:80', 'LOCALHOST:1'])('but not under %s', (host) => {
    expect(isSecure({ host })).toBe(false);
    expect(findFault({ host, origin: `http://${host}` })).toBeUndefined();
  });
});

describe('the origin of a form', () => {
  const { isOurs } = createOwnAddress(published);
  const local = createOwnAddress(undefined).isOurs;

  it.each([
    [published, 'review.example.com'],
    ['https://review.example.com:8443', 'review.example.com:8443'],
    ['http://127.0.0.1:8080', '127.0.0.1:8080'],
    ['http://localhost', 'LOCALHOST:80'],
  ])('%s is ours under %s', (origin, host) => {
    expect(isOurs({ origin, host })).toBe(true);
    if (origin !== published) expect(local({ origin, host })).toBe(true);
  });

  it.each([
    ['https://evil.example', 'review.example.com'],
    ['https://review.example.com.evil.example', 'review.example.com'],
    ['https://review.example.com:8443', 'review.example.com'],
    ['https://review.example.com/', 'review.example.com'],
    ['http://127.0.0.1:1', '127.0.0.1:8080'],
    ['ftp://review.example.com', 'review.example.com'],
    ['https://', ''],
    ['https://review.example.com, https://evil.example', 'review.example.com'],
  ])('%s is not ours under %s', (origin, host) => {
    expect(isOurs({ origin, host })).toBe(false);
    expect(local({ origin, host })).toBe(false);
  });

  it('is unknown to a caller that sends none', () => {
    for (const origin of [undefined, 'null'])
      expect(isOurs({ host: 'review.example.com', ...(origin && { origin }) })).toBeUndefined();
  });
});
