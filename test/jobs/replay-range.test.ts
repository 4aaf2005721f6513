import { expect, it } from 'vitest';
import type { CommandResult } from '../support/command.js';
import { prepareDay } from '../support/day-folder.js';
import { expectEachOnce } from '../support/expectations.js';
import { type StandInAnswer, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

const days = ['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'] as const;

/** The commands that it suggests, as a shell would parse them. */
function advisedBy({ stdout }: CommandResult): string[][] {
  return [...stdout.matchAll(/: .*hotel-review(?:\.js)? (.+)$/gm)].map(([, command]) =>
    (command ?? '').split(' '),
  );
}

it('A range that is stopped, or fails as every day would, says what it left, and its advice completes that', async () => {
  const service: { answer: StandInAnswer } = { answer: { kind: 'hang' } };
  const settings = { workers: { stopSeconds: 1 } };
  const { standIn, folder } = await prepareDay({ settings }, () => service.answer);
  const bookings = days.map((_, index) => makeBookings(10, { first: index * 100 + 1 }));
  for (const [index, day] of days.entries()) await folder.writeBookings(toCsv(bookings[index] ?? []), day);

  const running = folder.start(['replay', days[0], '--to', days[3], '--all', '--reason', 'again']);
  await standIn.received(2);
  running.kill('SIGINT');
  const stopped = await running.ended;
  expect(stopped.exitCode).toBe(1);
  expect(stopped.stdout).toContain(`Not started: ${days[2]} to ${days[3]}, because it was stopped.\n`);
  // Two days at once.
  expect(standIn.requests).toHaveLength(2);

  service.answer = { kind: 'text', status: 403, body: '' };
  const [resumeFirst = [], resumeSecond = [], goOn = []] = advisedBy(stopped);
  const first = await folder.run(['replay', days[0], '--to', days[3], '--failed', '--reason', 'again']);
  expect(first.stdout).toMatch(/^Not started: .+ failed in a way that every day would\.$/m);
  expect(first.exitCode).toBe(1);
  expect(standIn.accepted()).toEqual([]);

  service.answer = success;
  for (const command of [resumeFirst, resumeSecond, goOn])
    expect((await folder.run(command)).exitCode).toBe(0);
  expectEachOnce(standIn, bookings.flat());
  const late = await folder.run(['replay', days[0], '--to', days[3], '--late', '--reason', 'x', '--json']);
  expect(late).toMatchObject({ exitCode: 0 });
  expect(late.stdout.trimEnd().split('\n')).toHaveLength(4);
  expect(late.stderr).toContain(`${days[1]}: succeeded, nothing new\n`);
  expectEachOnce(standIn, bookings.flat());
});
