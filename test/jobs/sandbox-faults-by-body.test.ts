import { describe, expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { prepareSandboxDay, type SandboxDayOptions } from '../support/sandbox-day.js';

/** One call after the other, so that the numbers of the calls are known. */
const oneByOne = { batchSize: 50, concurrency: 1 };

async function run(options: SandboxDayOptions) {
  const prepared = await prepareSandboxDay({ ...options, settings: { body: oneByOne, ...options.settings } });
  const { exitCode, report, stderr } = await prepared.folder.runDay();
  return { ...prepared, exitCode, report, stderr, of: prepared.sandbox.service.counts };
}

describe.each(['envelope', 'code-message'] as const)('errors worded as %s', (errorShape) => {
  it('and none of them: every booking is taken once', async () => {
    const { exitCode, report, counts, of } = await run({ errorShape });
    expect({ exitCode, reviewed: of.reviewed, calls: of.calls }).toEqual({
      exitCode: 0,
      reviewed: counts.bookings,
      calls: Math.ceil(counts.bookings / 50),
    });
    expect(report.counts).toMatchObject({
      delivered: counts.bookings,
      rejected: counts.rejected,
      repeated: 0,
    });
  });

  it.each([
    ['status:503@1', 'a service that is away'],
    ['status:500@1-3', 'a service that fails three times'],
    ['status:429:1@2', 'a service that asks for patience'],
    ['refuse:2001@2', 'an internal fault inside a 200'],
    ['refuse:2030@2', 'too many requests inside a 200'],
  ])('%s: %s is asked again, and every booking is taken once', async (fault) => {
    const { exitCode, report, counts, of } = await run({ faults: [fault], errorShape });
    expect({ exitCode, reviewed: of.reviewed }).toEqual({ exitCode: 0, reviewed: counts.bookings });
    expect(of.faults).toBeGreaterThan(0);
    expect(report.counts).toMatchObject({ delivered: counts.bookings, refused: 0, repeated: 0 });
  });

  it.each(['refuse:2009@2', 'status:400@2'])(
    '%s: a refused batch is halved, and every booking is taken once',
    async (fault) => {
      const { exitCode, report, counts, of } = await run({ faults: [fault], errorShape });
      expect({ exitCode, reviewed: of.reviewed }).toEqual({ exitCode: 0, reviewed: counts.bookings });
      expect(of.calls).toBe(Math.ceil(counts.bookings / 50) + 2);
      expect(report.counts).toMatchObject({ delivered: counts.bookings, refused: 0 });
    },
  );

  it.each(['status:403@3', 'refuse:2003@3', 'status:404@3'])(
    '%s: stops the run at once, and the next one goes on',
    async (fault) => {
      const { exitCode, report, counts, folder, of } = await run({ faults: [fault], errorShape });
      expect({ exitCode, calls: of.calls, state: report.state }).toEqual({
        exitCode: 1,
        calls: 3,
        state: 'failed',
      });
      const resumed = await folder.runDay();
      expect({ exitCode: resumed.exitCode, reviewed: of.reviewed }).toEqual({
        exitCode: 0,
        reviewed: counts.bookings,
      });
    },
  );
});

describe('a call without a clear answer', () => {
  const impatient = { service: { timeoutSeconds: 0.5 } };

  it.each([
    ['hang@2', 0],
    ['drop@2', 0],
    ['page@2', 0],
    ['lost-answer@2', 50],
    ['latency:2@2', 50],
  ])('%s: is made again and counted as repeated; %i bookings were taken twice', async (fault, twice) => {
    const { exitCode, report, counts, of } = await run({ faults: [fault], settings: impatient });
    expect({ exitCode, reviewed: of.reviewed, faults: of.faults }).toEqual({
      exitCode: 0,
      reviewed: counts.bookings + twice,
      faults: 1,
    });
    expect(report.counts).toMatchObject({ delivered: counts.bookings, repeated: 50 });
  });

  it('latency:1@2: is waited for where there is time', async () => {
    const { exitCode, report, counts, of } = await run({ faults: ['latency:1@2'] });
    expect({ exitCode, reviewed: of.reviewed }).toEqual({ exitCode: 0, reviewed: counts.bookings });
    expect(report.counts.repeated).toBe(0);
  });
});

it('Faults at a third of the calls delay a day and lose nothing of it', async () => {
  const faults = ['status:503@20%', 'refuse:2030@20%'];
  const { exitCode, report, counts, of } = await run({
    faults,
    count: 2_000,
    settings: {
      body: { batchSize: 50, concurrency: 4 },
      retry: { tries: 20, baseSeconds: 0.02, capSeconds: 0.05 },
    },
  });
  expect({ exitCode, reviewed: of.reviewed }).toEqual({ exitCode: 0, reviewed: counts.bookings });
  expect(of.faults).toBeGreaterThan(5);
  expect(report.counts).toMatchObject({ delivered: counts.bookings, refused: 0, repeated: 0 });
});

it('A wrong key is turned away and no call of a review operation', async () => {
  const { exitCode, report, stderr, of } = await run({ settings: { service: { apiKey: 'another' } } });
  expect({ exitCode, state: report.state, calls: of.calls }).toEqual({
    exitCode: 1,
    state: 'failed',
    calls: 0,
  });
  expect(report.error?.message ?? stderr).toContain(day);
});
