import { describe, expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { prepareSandboxDay, type SandboxDayOptions } from './sandbox-day.js';

/** One call at a time, so that the numbers of the calls are known. */
const oneByOne = { batchSize: 50, concurrency: 1 };

async function run(options: SandboxDayOptions) {
  const prepared = await prepareSandboxDay({ ...options, settings: { body: oneByOne, ...options.settings } });
  const { exitCode, report, stderr } = await prepared.folder.runDay();
  return { ...prepared, exitCode, report, stderr, of: prepared.sandbox.service.counts };
}

it.each(['envelope', 'code-message'] as const)(
  'without faults every booking is accepted once (errors as %s)',
  async (errorShape) => {
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
  },
);

describe('a fault', () => {
  it.each([
    ['status:503@1', 'an unavailable service', 'envelope'],
    ['status:500@1-3', 'a service that fails three times', 'code-message'],
    ['status:429:1@2', 'a rate-limited call', 'envelope'],
    ['refuse:2001@2', 'an internal error inside a 200', 'code-message'],
    ['refuse:2030@2', 'too many requests inside a 200', 'envelope'],
  ] as const)(
    '%s: after %s the call is repeated and every booking is accepted once (errors as %s)',
    async (fault, _what, errorShape) => {
      const { exitCode, report, counts, of } = await run({ faults: [fault], errorShape });
      expect({ exitCode, reviewed: of.reviewed }).toEqual({ exitCode: 0, reviewed: counts.bookings });
      expect(of.faults).toBeGreaterThan(0);
      expect(report.counts).toMatchObject({ delivered: counts.bookings, refused: 0, repeated: 0 });
    },
  );

  it.each([
    ['refuse:2009@2', 'envelope'],
    ['refuse:2009@2', 'code-message'],
    ['status:400@2', 'envelope'],
  ] as const)(
    '%s: a refused batch is split and every booking is accepted once (errors as %s)',
    async (fault, errorShape) => {
      const { exitCode, report, counts, of } = await run({ faults: [fault], errorShape });
      expect({ exitCode, reviewed: of.reviewed }).toEqual({ exitCode: 0, reviewed: counts.bookings });
      expect(of.calls).toBe(Math.ceil(counts.bookings / 50) + 2);
      expect(report.counts).toMatchObject({ delivered: counts.bookings, refused: 0 });
    },
  );

  it.each([
    ['status:403@3', 'envelope'],
    ['refuse:2003@3', 'code-message'],
    ['status:404@3', 'envelope'],
  ] as const)(
    '%s: stops the run at once, and the next run resumes it (errors as %s)',
    async (fault, errorShape) => {
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

describe('a call of unknown outcome', () => {
  const briefTimeout = { service: { timeoutSeconds: 1 } };

  it.each([
    ['hang@2', 0],
    ['drop@2', 0],
    ['page@2', 0],
    ['lost-answer@2', 50],
    ['latency:2@2', 50],
  ])('%s: is repeated and counted as such; %i bookings are accepted twice', async (fault, twice) => {
    const { exitCode, report, counts, of } = await run({ faults: [fault], settings: briefTimeout });
    expect({ exitCode, reviewed: of.reviewed, faults: of.faults }).toEqual({
      exitCode: 0,
      reviewed: counts.bookings + twice,
      faults: 1,
    });
    expect(report.counts).toMatchObject({ delivered: counts.bookings, repeated: 50 });
  });

  it('latency:1@2: is awaited within the timeout', async () => {
    const { exitCode, report, counts, of } = await run({ faults: ['latency:1@2'] });
    expect({ exitCode, reviewed: of.reviewed }).toEqual({ exitCode: 0, reviewed: counts.bookings });
    expect(report.counts.repeated).toBe(0);
  });
});

it('Faults in a third of the calls delay a day but lose nothing', async () => {
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

it('A wrong key fails the run before any call is counted', async () => {
  const { exitCode, report, stderr, of } = await run({ settings: { service: { apiKey: 'another' } } });
  expect({ exitCode, state: report.state, calls: of.calls }).toEqual({
    exitCode: 1,
    state: 'failed',
    calls: 0,
  });
  expect(report.error?.message ?? stderr).toContain(day);
});
