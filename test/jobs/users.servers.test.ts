import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { isAvailable, needs, runAtTerminal } from '../support/pseudo-terminal.js';

const command = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));
const password = 'four random words here';
const other = 'other random words here';

describe('user add', () => {
  it.skipIf(!isAvailable)(
    `asks for the password twice on a terminal, never shows it, and reads one line without one (needs ${needs})`,
    async () => {
      const { folder } = await prepareDay({
        bookings: toCsv(makeBookings(3)),
        settings: { server: { users: './users.json' } },
      });
      const ask = (again: string) =>
        runAtTerminal(
          [command, 'user', 'add', 'ana', '--role', 'team'],
          [
            { after: 'Password for ana', type: `${password}\r` },
            { after: 'Repeat the password', type: `${again}\r` },
          ],
          { cwd: folder.path, env: { PATH: process.env.PATH } },
        );
      const wrong = await ask(other);
      expect([wrong.exitCode, wrong.screen]).toEqual([
        2,
        expect.stringContaining('the two passwords differ'),
      ]);
      const right = await ask(password);
      expect([right.exitCode, right.screen]).toEqual([0, expect.stringContaining('ana is added as team')]);
      for (const { screen } of [wrong, right]) {
        expect(screen).not.toContain('four');
        expect(screen).not.toContain('random');
      }
      // Without a terminal, it is the line of standard input.
      const add = (input: string) => folder.run(['user', 'add', 'ben', '--role', 'viewer'], { input });
      for (const input of ['short\n', `${password}\n${other}\n`, ''])
        expect(await add(input)).toMatchObject({ exitCode: 2 });
      expect(await add(`${password}\n`)).toMatchObject({ exitCode: 0 });
      expect((await folder.run(['user', 'list', '--json'])).json).toEqual({
        users: [
          { name: 'ana', role: 'team', hasPassword: true },
          { name: 'ben', role: 'viewer', hasPassword: true },
        ],
      });
    },
  );
});
