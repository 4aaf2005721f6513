import { describe, expect, it } from 'vitest';
import { joinToRoot } from '../../../src/transports/sftp/session.js';
import { findMissingSpace } from '../../../src/transports/sftp/transfer.js';

describe('a path below the root', () => {
  it.each([
    ['/', 'VerifyMappings/112026', '/VerifyMappings/112026'],
    ['/acme', 'a.csv', '/acme/a.csv'],
    ['/acme//', 'a b/ü.csv', '/acme/a b/ü.csv'],
    ['.', 'a.csv', './a.csv'],
    ['', 'a.csv', 'a.csv'],
    ['/', '', '/'],
    ['/acme/', '', '/acme'],
    ['', '', '.'],
    ['/', '..a/b..', '/..a/b..'],
  ])('joins %j and %j to %j', (root, path, joined) => {
    expect(joinToRoot(root, path)).toBe(joined);
  });

  it.each(['/', '/etc', '..', '../a', 'a/..', 'a/../b', 'a\\b', '\0', 'a\0'])('refuses %j', (path) => {
    expect(() => joinToRoot('/acme', path)).toThrow(RangeError);
  });
});

const mebibyte = 1024 * 1024;

it.each([
  ['a large disk keeps 64 MiB', 1_000, { size: 100_000 * mebibyte, free: 64 * mebibyte + 999 }, 1],
  ['a disk of 48 MB takes a result of 275 kB', 275_000, { size: 48_000_000, free: 40_000_000 }, 0],
  ['a disk of 48 MB keeps 5 % free', 275_000, { size: 48_000_000, free: 2_400_000 }, 275_000],
  ['a disk that does not say', 1_000, { size: 0, free: 0 }, 0],
])('%s', (_, bytes, disk, missing) => {
  expect(findMissingSpace(bytes, disk).missing).toBe(missing);
});
