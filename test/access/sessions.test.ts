import { describe, expect, it } from 'vitest';
import {
  createCsrfToken,
  isAlive,
  openSession,
  type Session,
  sealSession,
} from '../../src/desk/access/sessions.js';
import { createUsers, type User, type Users } from '../../src/storage/access/users-file.js';
import { someUsers } from './some-users.js';

const now = Date.parse('2026-11-21T02:30:00Z');
const minuteMs = 60_000;
const session: Session = { id: 'one', name: 'tina', startedAt: now, seenAt: now };

const userOf = ({ users }: Users, wanted = 'tina') => users.find(({ name }) => name === wanted) as User;
const change = (known: Users, changed: Partial<User>): Users => ({
  ...known,
  users: known.users.map((user) => (user.name === 'tina' ? { ...user, ...changed } : user)),
});

describe('a sealed session', () => {
  const known = someUsers();
  const sealed = sealSession(session, known, userOf(known));

  it('opens as it was, with its user', () => {
    expect(openSession(sealed, known)).toEqual({ session, user: userOf(known) });
  });

  it('does not open with any character changed', () => {
    for (let at = 0; at < sealed.length - 1; at += 1) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      expect(openSession(sealed.slice(0, at) + other + sealed.slice(at + 1), known)).toBeUndefined();
    }
  });

  it('does not open for another name, a later time, or without a signature', () => {
    const signature = sealed.split('.')[1];
    for (const forged of [{ name: 'ada' }, { seenAt: now + minuteMs }, { startedAt: now + minuteMs }]) {
      const content = Buffer.from(JSON.stringify({ ...session, ...forged })).toString('base64url');
      for (const text of [`${content}.${signature}`, `${content}.`, content, '', 'bnVsbA.', 'W10.x'])
        expect(openSession(text, known)).toBeUndefined();
    }
  });

  it('does not open under another key', () => {
    expect(openSession(sealed, { ...known, key: createUsers().key })).toBeUndefined();
  });

  it('does not open once the password has changed, or is gone', () => {
    const { password: _, ...without } = userOf(known);
    expect(openSession(sealed, change(known, { password: `${userOf(known).password}x` }))).toBeUndefined();
    expect(openSession(sealed, { ...known, users: [without] })).toBeUndefined();
  });
});

describe('a session', () => {
  const idleMs = 30 * minuteMs;
  const lives = (minutes: number, seenAfter = 0) =>
    isAlive({ ...session, seenAt: now + seenAfter * minuteMs }, now + minutes * minuteMs, idleMs);

  it('lasts until nobody has been active for the idle time', () => {
    expect([lives(0), lives(29), lives(30), lives(59, 30), lives(60, 30)]).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
  });

  it('ends after twelve hours, however active', () => {
    expect([lives(719, 718), lives(720, 719)]).toEqual([true, false]);
  });

  it('does not outlive a clock that was set back', () => {
    expect([lives(-29), lives(-30)]).toEqual([true, false]);
  });
});

describe('the token of a form', () => {
  it('differs for each session, name and key', () => {
    const known = someUsers();
    const tokens = [
      createCsrfToken(known, 'session', 'one'),
      createCsrfToken(known, 'session', 'two'),
      createCsrfToken(known, 'proxy', 'one'),
      createCsrfToken(someUsers(), 'session', 'one'),
    ];
    expect(new Set(tokens).size).toBe(tokens.length);
    expect(createCsrfToken(known, 'session', 'one')).toBe(tokens[0]);
  });
});
