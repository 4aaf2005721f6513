import { describe, expect, it } from 'vitest';
import {
  createBackOff,
  decoyHash,
  findPasswordFault,
  hashPassword,
  isPassword,
  isPasswordHash,
} from '../../../src/storage/access/passwords.js';
import { password, passwordHash } from './some-users.js';

describe('a hash of a password', () => {
  it('matches this password only, however it is composed and copied, and differs each time', async () => {
    const written = 'contraseña segura';
    const [hash, other] = await Promise.all([hashPassword(written), hashPassword(written)]);
    expect(hash).not.toBe(other);
    expect(hash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
    expect(hash).not.toContain(written);
    expect(await isPassword(` ${written.normalize('NFD')}\t`, hash)).toBe(true);
    expect(await isPassword(`${password}.`, passwordHash)).toBe(false);
    // What is compared for an unknown user takes as much work.
    const cost = (one: string) => one.split('$')[2];
    expect([isPasswordHash(decoyHash), cost(decoyHash)]).toEqual([true, cost(hash)]);
    expect(await isPassword('\0'.repeat(32), decoyHash)).toBe(false);
  });

  it.each([
    ['takes too much memory', passwordHash.replace('ln=14', 'ln=30')],
    ['is too cheap', passwordHash.replace('ln=14', 'ln=4')],
    ['is cut off', passwordHash.slice(0, -1)],
    ['is a password', password],
  ])('is not accepted if it %s', (_fault, text) => {
    expect(isPasswordHash(text)).toBe(false);
  });
});

it.each([
  ['elf letters', 'has 11 characters; it needs at least 12, such as four random words'],
  ['   short    ', 'has 5 characters; it needs at least 12, such as four random words'],
  ['🔑🔑🔑🔑🔑🔑🔑', 'has 7 characters; it needs at least 12, such as four random words'],
  ['Ana.Example@Example.com', 'is the name'],
  ['passwordpassword', 'repeats a few characters or a pattern'],
  ['Summer2026!Summer2026!', 'repeats a few characters or a pattern'],
  ['x'.repeat(1_001), 'has more than 1000 characters'],
])('a password such as %j is refused', (given, fault) => {
  expect(findPasswordFault(given, 'ana.example@example.com')).toBe(fault);
});

const now = Date.parse('2026-11-21T02:30:00Z');
const address = '203.0.113.7';

function startBackOff() {
  let at = now;
  const backOff = createBackOff(() => at);
  return {
    ...backOff,
    pass: (seconds: number) => {
      at += seconds * 1_000;
    },
    fail: (times: number, from = address) => {
      for (let failed = 0; failed < times; failed += 1) backOff.recordFailure(from);
    },
  };
}

describe('an address with wrong credentials', () => {
  it('waits after five failures, and twice as long after each further one, up to a minute', () => {
    const { fail, findWait } = startBackOff();
    fail(4);
    expect(findWait(address)).toBe(0);
    const waits = Array.from({ length: 8 }, () => {
      fail(1);
      return findWait(address);
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('waits no longer than that, even if the clock is set back', () => {
    const { fail, findWait, pass } = startBackOff();
    fail(12);
    pass(59.5);
    expect(findWait(address)).toBe(1);
    pass(-120);
    expect(findWait(address)).toBe(60);
  });

  it('starts over after a success, and after a quarter of an hour', () => {
    const { fail, findWait, pass, recordSuccess } = startBackOff();
    fail(12);
    recordSuccess(address);
    fail(4);
    expect(findWait(address)).toBe(0);
    fail(8);
    pass(15 * 60);
    fail(4);
    expect(findWait(address)).toBe(0);
  });

  it('makes its whole IPv6 network wait, and nobody else', () => {
    const { fail, findWait } = startBackOff();
    fail(12, '2001:db8:0:7::1');
    fail(12, '203.0.113.9');
    expect(findWait('2001:db8::7:0:0:0:99')).toBe(60);
    expect(findWait('203.0.113.9')).toBe(60);
    for (const other of ['2001:db8::8:0:0:0:1', '::1', '203.0.113.8']) expect(findWait(other)).toBe(0);
  });

  it('is forgotten after ten thousand others since its last failure, so that memory stays bounded', () => {
    const { fail, findWait } = startBackOff();
    fail(12);
    for (let other = 0; other < 9_999; other += 1) fail(1, `earlier-${other}`);
    fail(1);
    fail(1, 'one-more');
    expect(findWait(address)).toBe(60);
    for (let other = 0; other < 10_000; other += 1) fail(1, `other-${other}`);
    expect(findWait(address)).toBe(0);
  });
});
