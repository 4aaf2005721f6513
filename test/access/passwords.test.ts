import { describe, expect, it } from 'vitest';
import {
  decoyHash,
  findPasswordFault,
  hashPassword,
  isPassword,
  isPasswordHash,
} from '../../src/storage/access/passwords.js';
import { password, passwordHash } from './some-users.js';

describe('a hash of a password', () => {
  it('matches this password only, and differs each time', async () => {
    const [hash, other] = await Promise.all([hashPassword(password), hashPassword(password)]);
    expect(hash).not.toBe(other);
    expect(hash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
    expect(hash).not.toContain(password);
    expect(await isPassword(password, hash)).toBe(true);
    expect(await isPassword(`${password}.`, hash)).toBe(false);
  });

  it('ignores spaces that copying adds at the ends', async () => {
    expect(await isPassword(` ${password}\t`, passwordHash)).toBe(true);
    expect(findPasswordFault('   short    ', 'ana')).toContain('has 5 characters');
  });

  it('is the same however its characters are composed', async () => {
    const hash = await hashPassword('contraseña segura');
    expect(await isPassword('contraseña segura'.normalize('NFD'), hash)).toBe(true);
  });

  it('of an unknown user matches no password, and takes as much work as any other', async () => {
    expect(isPasswordHash(decoyHash)).toBe(true);
    const cost = (hash: string) => hash.split('$')[2];
    expect(cost(decoyHash)).toBe(cost(await hashPassword(password)));
    for (const guess of ['', password, '\0'.repeat(32)])
      expect(await isPassword(guess, decoyHash)).toBe(false);
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

describe('a password', () => {
  it.each([
    ['elf letters', 'has 11 characters; it needs at least 12, such as four random words'],
    ['🔑🔑🔑🔑🔑🔑🔑', 'has 7 characters; it needs at least 12, such as four random words'],
    ['Ana.Example@Example.com', 'is the name'],
    ['passwordpassword', 'repeats a few characters or a pattern'],
    ['Summer2026!Summer2026!', 'repeats a few characters or a pattern'],
    ['x'.repeat(1_001), 'has more than 1000 characters'],
  ])('such as %j is refused', (given, fault) => {
    expect(findPasswordFault(given, 'ana.example@example.com')).toBe(fault);
  });
});
