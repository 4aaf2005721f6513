import { describe, expect, it } from 'vitest';
import { joinToRoot } from '../../src/transports/sftp/session.js';

describe('a path below the root', () => {
  it.each([
    ['/', 'VerifyMappings/112026', '/VerifyMappings/112026'],
    ['/acme', 'a.csv', '/acme/a.csv'],
    ['/acme/', 'a.csv', '/acme/a.csv'],
    ['/acme//', 'a b/ü.csv', '/acme/a b/ü.csv'],
    ['acme', 'a.csv', 'acme/a.csv'],
    ['.', 'a.csv', './a.csv'],
    ['', 'a.csv', 'a.csv'],
    ['/', '', '/'],
    ['//', '', '/'],
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
