import { describe, expect, it } from 'vitest';
import {
  createCsrfToken,
  isAlive,
  openSession,
  type Session,
  sealSession,
} from '../../../src/desk/access/sessions.js';
import { createUsers, type User, type Users } from '../../../src/storage/access/users-file.js';
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

  it('does not open with any character changed, for another name, a later time, or without a signature', () => {
    for (let at = 0; at < sealed.length - 1; at += 1) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      expect(openSession(sealed.slice(0, at) + other + sealed.slice(at + 1), known)).toBeUndefined();
    }
    const signature = sealed.split('.')[1];
    for (const forged of [{ name: 'ada' }, { seenAt: now + minuteMs }, { startedAt: now + minuteMs }]) {
      const content = Buffer.from(JSON.stringify({ ...session, ...forged })).toString('base64url');
      for (const end of [`.${signature}`, `.${'ñ'.repeat(43)}`, '.', ''])
        expect(openSession(`${content}${end}`, known)).toBeUndefined();
      for (const text of ['', 'bnVsbA.', 'W10.x']) expect(openSession(text, known)).toBeUndefined();
    }
  });

  it('does not open under another key, nor once the password has changed or is gone', () => {
    expect(openSession(sealed, { ...known, key: createUsers().key })).toBeUndefined();
    const { password: _, ...without } = userOf(known);
    expect(openSession(sealed, change(known, { password: `${userOf(known).password}x` }))).toBeUndefined();
    expect(openSession(sealed, { ...known, users: [without] })).toBeUndefined();
  });
});

it.each([
  ['has not been idle for the idle time', 29, 0, true],
  ['has been', 30, 0, false],
  ['was active later', 59, 30, true],
  ['was active later, and idle since', 60, 30, false],
  ['is nearly twelve hours old', 719, 718, true],
  ['is twelve hours old, however active', 720, 719, false],
  ['is of a clock that was set back a little', -29, 0, true],
  ['is of a clock that was set back', -30, 0, false],
])('a session that %s: %i minutes later, last seen after %i, is it alive', (_, minutes, seenAfter, alive) => {
  const seen = { ...session, seenAt: now + seenAfter * minuteMs };
  expect(isAlive(seen, now + minutes * minuteMs, 30 * minuteMs)).toBe(alive);
});

it('the token of a form differs for each session, name and key', () => {
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
