import { describe, expect, it } from 'vitest';
import type { CommandResult } from '../support/command.js';
import { expectEachOnce } from '../support/expectations.js';
import { type StandInAnswer, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { prepareDay } from '../support/prepared-day.js';

const days = ['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'] as const;
const forbidden: StandInAnswer = { kind: 'text', status: 403, body: '' };
const words = `Not begun: 2026-11-19 to 2026-11-20, for 2026-11-18 is not done.
To go on: hotel-review run --day 2026-11-18
and then: hotel-review replay 2026-11-19 --to 2026-11-20
`;

/** Four days, of which the service turns the second one down until it is mended. */
async function prepare() {
  const bookings = days.map((_, index) => makeBookings(10, { first: index * 100 + 1 }));
  const service = { isMended: false };
  const { standIn, folder } = await prepareDay({}, (_, number) =>
    number === 1 || service.isMended ? success : forbidden,
  );
  for (const [index, day] of days.entries()) await folder.writeBookings(toCsv(bookings[index] ?? []), day);
  return { standIn, folder, service, bookings: bookings.flat() };
}

describe('a replay of a range', () => {
  it('that ends at a day says which ones were not begun, and what it says to do does them all', async () => {
    const { standIn, folder, service, bookings } = await prepare();
    const ended = await folder.run(['replay', days[0], '--to', days[3]]);
    expect(ended.exitCode).toBe(1);
    expect(ended.stdout.endsWith(words)).toBe(true);
    service.isMended = true;
    const advised = [...words.matchAll(/: hotel-review (.+)$/gm)].map(([, command]) => command ?? '');
    for (const command of advised) expect((await folder.run(command.split(' '))).exitCode).toBe(0);
    expect(advised).toHaveLength(2);
    expectEachOnce(standIn, bookings);
  });

  it('prints with --json an object a day, a line each, and its words elsewhere', async () => {
    const { folder } = await prepare();
    const ended = await folder.run(['replay', days[0], '--to', days[3], '--json']);
    expect(linesOf(ended)).toMatchObject([
      { day: days[0], state: 'succeeded' },
      { day: days[1], state: 'failed' },
    ]);
    expect(ended.stderr.endsWith(words)).toBe(true);
  });

  it('that comes to an unfinished day says so before the error', async () => {
    const { folder } = await prepare();
    await folder.run(['replay', days[0]]);
    await folder.run(['run', '--day', days[1]]);
    const ended = await folder.run(['replay', days[1], '--to', days[3], '--json']);
    expect(ended.exitCode).toBe(2);
    expect(linesOf(ended)).toMatchObject([{ error: { class: 'usage' } }]);
    expect(ended.stderr).toContain(`${words}hotel-review: run `);
  });

  it('says nothing of days where it ends at the last one', async () => {
    const { folder } = await prepare();
    const ended = await folder.run(['replay', days[0], '--to', days[1]]);
    expect(ended.exitCode).toBe(1);
    expect(ended.stdout + ended.stderr).not.toContain('Not begun');
  });
});

function linesOf({ stdout }: CommandResult): unknown[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
