import { describe, expect, it } from 'vitest';
import type { CommandResult } from '../support/command.js';
import { prepareDay, type Settings } from '../support/day-folder.js';
import { expectEachOnce } from '../support/expectations.js';
import { createGate } from '../support/gate.js';
import { type ArrivingRequest, type StandInAnswer, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

const days = ['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'] as const;
type Day = (typeof days)[number];
const range = [days[0], '--to', days[3]];
const why = ['--reason', 'again'];
const all = [...range, ...why];
const forbidden: StandInAnswer = { kind: 'text', status: 403, body: '' };
const unavailable: StandInAnswer = { kind: 'text', status: 503, body: '' };

/** Four days of ten bookings; the service answers as configured for each day. */
async function prepare({
  answer = () => success,
}: {
  readonly answer?: (day: Day) => StandInAnswer | Promise<StandInAnswer>;
} = {}) {
  const bookings = days.map((_, index) => makeBookings(10, { first: index * 100 + 1 }));
  const service = { answer };
  const settings: Settings = { retry: { tries: 2, baseSeconds: 0.02 } };
  const { standIn, folder } = await prepareDay({ settings }, async (request) =>
    service.answer(await dayOf(request)),
  );
  for (const [index, day] of days.entries()) await folder.writeBookings(toCsv(bookings[index] ?? []), day);
  return { standIn, folder, service, bookings: bookings.flat() };
}

async function dayOf(request: ArrivingRequest): Promise<Day> {
  const [first] = await request.readHotels();
  return days[Math.floor((Number(first?.ServiceId) - 100_001) / 100)] ?? days[0];
}

function linesOf({ stdout }: CommandResult): { readonly day?: string }[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** In the order of the days, whichever ended first. */
function byDay(result: CommandResult): unknown[] {
  return linesOf(result).toSorted((one, other) => (String(one.day) < String(other.day) ? -1 : 1));
}

/** The commands that it suggests, as a shell would parse them. */
function advisedBy({ stdout }: CommandResult): string[][] {
  return [...stdout.matchAll(/: hotel-review (.+)$/gm)].map(([, command]) => (command ?? '').split(' '));
}

describe('a replay of a range', () => {
  it('reviews every day in a new run, and ends with a table', async () => {
    const { standIn, folder, bookings } = await prepare();
    const ended = await folder.run(['replay', ...all, '--all']);
    expect(ended.exitCode).toBe(0);
    expectEachOnce(standIn, bookings);
    const lines = ended.stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^ {2}day +run +state +delivered +pending +refused$/);
    expect(lines.slice(1).map((line) => line.replace(/ \d{8}-\w{8} /, ' RUN '))).toEqual(
      days.map((day) => expect.stringMatching(new RegExp(`^ {2}${day} +RUN +succeeded +10 +0 +0$`))),
    );
    for (const day of days) expect(ended.stderr).toContain(`\n${day}: succeeded, 10 delivered\n`);
  });

  it('continues after a day that fails, and the suggested command completes that one', async () => {
    const { standIn, folder, service, bookings } = await prepare({
      answer: (day) => (day === days[1] ? unavailable : success),
    });
    const ended = await folder.run(['replay', ...all, '--all']);
    expect(ended.exitCode).toBe(1);
    expect(standIn.accepted()).toHaveLength(30);
    expect(ended.stdout).not.toContain('Not started');
    service.answer = () => success;
    expect(advisedBy(ended)).toEqual([['run', '--day', days[1]]]);
    expect((await folder.run(advisedBy(ended)[0] ?? [])).exitCode).toBe(0);
    expectEachOnce(standIn, bookings);
  });

  it('prints one JSON object per day and line with --json, and text on standard error', async () => {
    const { folder } = await prepare({ answer: (day) => (day === days[1] ? unavailable : success) });
    await folder.run(['run', '--day', days[3]]);
    const ended = await folder.run(['replay', ...all, '--missing', '--json']);
    expect(byDay(ended)).toMatchObject([
      { day: days[0], state: 'succeeded', trigger: 'replay' },
      { day: days[1], state: 'failed', error: { class: 'retryable' } },
      { day: days[2], state: 'succeeded' },
      { day: days[3], skipped: 'has a run', runId: expect.stringMatching(/^20261120-/) },
    ]);
    expect(ended.stderr).toMatch(/^ {2}2026-11-20 +20261120-\w+ +has a run$/m);
  });

  it('stops at a problem that every day would have, and the suggested command completes them all', async () => {
    const begun = createGate();
    const { standIn, folder, service, bookings } = await prepare({
      async answer(day) {
        // Both begin before one of them fails.
        if (day === days[1]) begun.open();
        await begun.passed;
        return forbidden;
      },
    });
    const ended = await folder.run(['replay', ...all, '--all']);
    expect(ended.exitCode).toBe(1);
    expect(standIn.accepted()).toEqual([]);
    expect(ended.stdout).toMatch(
      /Not started: 2026-11-19 to 2026-11-20, because 2026-11-1[78] failed in a way that every day would.\nTo continue: hotel-review replay 2026-11-19 --to 2026-11-20 --all --reason again\n/,
    );
    service.answer = () => success;
    expect(advisedBy(ended)).toHaveLength(3);
    for (const command of advisedBy(ended)) expect((await folder.run(command)).exitCode).toBe(0);
    expectEachOnce(standIn, bookings);
  });

  it('reports a day that another process works on, and exits with 4', async () => {
    const gate = createGate();
    const { folder } = await prepare({
      async answer(day) {
        if (day === days[0]) await gate.passed;
        return success;
      },
    });
    const other = folder.call(['run', '--day', days[0]]);
    await other.wrote('collected');
    const ended = await folder.run(['replay', ...all, '--all', '--json']);
    expect(ended.exitCode).toBe(4);
    expect(byDay(ended)).toMatchObject([
      { error: { class: 'busy' } },
      ...Array(3).fill({ state: 'succeeded' }),
    ]);
    gate.open();
    expect((await other.ended).exitCode).toBe(0);
  });

  it('stops on Ctrl-C, says what was not started, and the suggested command does the rest', async () => {
    const hang: StandInAnswer = { kind: 'hang' };
    const { standIn, folder, service, bookings } = await prepare({
      answer: () => hang,
    });
    const running = folder.call(['replay', ...all, '--all']);
    await standIn.received(2);
    running.stop('SIGINT');
    const ended = await running.ended;
    expect(ended.exitCode).toBe(1);
    expect(ended.stdout).toContain('Not started: 2026-11-19 to 2026-11-20, because it was stopped.\n');
    service.answer = () => success;
    expect(advisedBy(ended)).toHaveLength(3);
    for (const command of advisedBy(ended)) expect((await folder.run(command)).exitCode).toBe(0);
    expectEachOnce(standIn, bookings);
  });
});

describe('of a range', () => {
  it('--missing reviews the days without a run, --failed resumes those that failed', async () => {
    const { standIn, folder, service, bookings } = await prepare({
      answer: (day) => (day === days[1] ? unavailable : success),
    });
    for (const day of [days[0], days[1]]) await folder.run(['run', '--day', day]);
    const missing = await folder.run(['replay', ...all, '--missing', '--json']);
    expect(missing.exitCode).toBe(0);
    expect(byDay(missing)).toMatchObject([
      { skipped: 'has a run' },
      { skipped: 'has a run' },
      { state: 'succeeded' },
      { state: 'succeeded' },
    ]);
    service.answer = () => success;
    const failed = await folder.run(['replay', ...all, '--failed', '--json']);
    expect(failed.exitCode).toBe(0);
    expect(byDay(failed)).toMatchObject([
      { skipped: 'has not failed' },
      // A resumed run keeps its trigger.
      { state: 'succeeded', trigger: 'manual' },
      { skipped: 'has not failed' },
      { skipped: 'has not failed' },
    ]);
    expectEachOnce(standIn, bookings);
  });

  it('both work on a single day, too', async () => {
    const { standIn, folder } = await prepare();
    const failed = await folder.run(['replay', days[0], '--failed', '--json']);
    expect(failed).toMatchObject({ exitCode: 0, json: { day: days[0], skipped: 'has no run', runId: null } });
    expect((await folder.run(['replay', days[0], '--missing'])).exitCode).toBe(0);
    const again = await folder.run(['replay', days[0], '--missing']);
    expect(again.exitCode).toBe(0);
    expect(again.stdout).toMatch(
      /^2026-11-17 is left as it is: it has a run \(run 20261117-\w+, succeeded\)\n$/,
    );
    expect(standIn.accepted()).toHaveLength(10);
  });

  it('--all reviews every day again, and abandons what is unfinished', async () => {
    const { standIn, folder, service } = await prepare({ answer: () => unavailable });
    await folder.run(['run', '--day', days[1]]);
    service.answer = () => success;
    await folder.run(['run', '--day', days[0]]);
    const ended = await folder.run(['replay', ...all, '--all', '--json']);
    expect(ended.exitCode).toBe(0);
    expect(byDay(ended)).toMatchObject(days.map((day) => ({ day, state: 'succeeded' })));
    expect(standIn.accepted()).toHaveLength(50);
    const { runs } = (await folder.run(['status', days[1], '--json'])).json as { runs: unknown[] };
    expect(runs).toMatchObject([{ state: 'succeeded' }, { state: 'cancelled' }]);
  });

  it('--late tops up the days that have a run, and starts the others', async () => {
    const { standIn, folder, bookings } = await prepare();
    await folder.run(['replay', days[0], '--to', days[1], '--all', ...why]);
    const late = makeBookings(3, { first: 51 });
    await folder.writeBookings(toCsv([...bookings.slice(0, 10), ...late]), days[0]);
    const ended = await folder.run(['replay', ...all, '--late', '--json']);
    expect(ended.exitCode).toBe(0);
    expect(byDay(ended)).toMatchObject([
      { topsUp: true, counts: { accepted: 3, duplicates: 10, delivered: 3 } },
      { topsUp: true, counts: { accepted: 0, duplicates: 10 } },
      { counts: { delivered: 10 } },
      { counts: { delivered: 10 } },
    ]);
    expect(ended.stderr).toContain('2026-11-18: succeeded, nothing new\n');
    expectEachOnce(standIn, [...bookings, ...late]);
  });

  it('--dry-run lists the days and what would be done with each, and sends nothing', async () => {
    const { standIn, folder, service } = await prepare();
    const empty = await folder.run(['replay', ...range, '--missing', '--dry-run']);
    expect(empty.stdout).toContain('4 days of 4 would be reviewed; nothing was sent');
    await folder.run(['run', '--day', days[0]]);
    service.answer = () => unavailable;
    await folder.run(['run', '--day', days[1]]);
    const sent = standIn.requests.length;
    const plan = async (...mode: string[]) => {
      const { exitCode, json } = await folder.run(['replay', ...range, ...mode, '--dry-run', '--json']);
      expect(exitCode).toBe(0);
      return (json as { days: { action: string }[] }).days.map(({ action }) => action);
    };
    expect(await plan('--missing')).toEqual(['nothing', 'nothing', 'new-run', 'new-run']);
    expect(await plan('--failed')).toEqual(['nothing', 'resume', 'nothing', 'nothing']);
    expect(await plan('--late')).toEqual(['top-up', 'top-up', 'new-run', 'new-run']);
    expect(await plan('--all')).toEqual(Array(4).fill('new-run'));
    expect(standIn.requests).toHaveLength(sent);
  });
});

describe('the days of a range', () => {
  it('are limited in how many are reviewed at once', async () => {
    const inProgress = new Set<string>();
    // Each waits until another day is in progress: one at a time would deadlock.
    const pairs = [createGate(), createGate()];
    let arrived = 0;
    let most = 0;
    const { standIn, folder, bookings } = await prepare({
      async answer(day) {
        inProgress.add(day);
        most = Math.max(most, inProgress.size);
        const pair = pairs[Math.floor(arrived / 2)];
        arrived += 1;
        if (arrived % 2 === 0) pair?.open();
        await pair?.passed;
        inProgress.delete(day);
        return success;
      },
    });
    expect((await folder.run(['replay', ...all, '--all'])).exitCode).toBe(0);
    expectEachOnce(standIn, bookings);
    expect(most).toBe(2);
  });

  it('share that limit with other processes: a second replay waits, and says so', async () => {
    const gate = createGate();
    const { standIn, folder, bookings } = await prepare({
      async answer(day) {
        if (day === days[0] || day === days[1]) await gate.passed;
        return success;
      },
    });
    const first = folder.call(['replay', days[0], '--to', days[1], '--all', ...why]);
    await standIn.received(2);
    const second = folder.call(['replay', days[2], '--to', days[3], '--all', ...why]);
    await second.wrote('2026-11-19: waiting: the maximum number of runs is in progress');
    expect(standIn.accepted()).toEqual([]);
    gate.open();
    expect((await first.ended).exitCode).toBe(0);
    expect((await second.ended).exitCode).toBe(0);
    expectEachOnce(standIn, bookings);
  });
});
