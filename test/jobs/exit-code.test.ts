import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exitCodeOf, worstOf } from '../../jobs/exit-code.js';
import { describeFailure, stackFrames } from '../../jobs/failure.js';
import { StoppedError } from '../../src/async/stopped-error.js';
import { ConfigurationError } from '../../src/config/problems.js';
import { DatabaseBusyError, FencedError, LedgerUnusableError } from '../../src/ledger/errors.js';
import { activeRunStates } from '../../src/ledger/run.js';
import { DayBusyError } from '../../src/review/day/join-run.js';
import { SourceError } from '../../src/review/source.js';
import { SftpError } from '../../src/sftp/sftp.js';
import { UsageError } from '../../src/text/usage-error.js';
import { someRun } from '../review/some-run.js';

describe('the exit code', () => {
  it('of many days is that of the worst: 2, then 1, then 4, then 3, then 5', () => {
    expect(worstOf([0, 3, 4, 1, 2, 0])).toBe(2);
    expect(worstOf([0, 3, 4, 1, 0])).toBe(1);
    expect(worstOf([0, 3, 4])).toBe(4);
    expect(worstOf([3, 5, 0])).toBe(3);
    expect(worstOf([0, 5])).toBe(5);
    expect(worstOf([0, 0])).toBe(0);
    expect(worstOf([])).toBe(0);
  });

  it('of every state of a run', () => {
    const codes = ([...activeRunStates, 'succeeded', 'failed', 'cancelled'] as const).map((state) => [
      state,
      exitCodeOf(someRun({ state })),
    ]);
    expect(Object.fromEntries(codes)).toEqual({
      collecting: 1,
      delivering: 1,
      'awaiting-result': 3,
      succeeded: 0,
      failed: 1,
      cancelled: 1,
    });
  });

  it('of a run that succeeded with a different number of records than the hook expected is that of a failure', () => {
    const run = someRun({ state: 'succeeded', collectedAt: 1, counts: { read: 12, filtered: 2 } });
    expect(exitCodeOf({ ...run, expected: 10 })).toBe(0);
    expect(exitCodeOf({ ...run, expected: 12 })).toBe(1);
  });

  it('of a run with far fewer bookings than usual is 5 until somebody accepts it, unless another one is worse', () => {
    const drops = [{ provider: null, accepted: 3, usual: 400 }];
    const few = { volume: { accepted: 3, usual: 400, drops } };
    expect(exitCodeOf(someRun({ state: 'succeeded', ...few }))).toBe(5);
    expect(exitCodeOf(someRun({ state: 'awaiting-result', ...few }))).toBe(3);
    expect(exitCodeOf(someRun({ state: 'failed', ...few }))).toBe(1);
    expect(exitCodeOf(someRun({ ...few, expected: 9, collectedAt: 1, counts: { read: 3 } }))).toBe(1);
    expect(exitCodeOf(someRun({ ...few, acceptances: { volume: { at: 1, by: 'ada' } } }))).toBe(0);
    const ofProvider = { ...few.volume, drops: [{ provider: 'Bedlink', accepted: 0, usual: 40 }] };
    expect(exitCodeOf(someRun({ volume: ofProvider }))).toBe(0);
  });

  it('of a run with implausibly many affected bookings is 5 until somebody accepts as many', () => {
    const many = { implausible: { affected: 30, judged: 200 } };
    const acceptedWith = (affected: number) => ({ affected: { at: 1, by: 'ada', affected } });
    expect(exitCodeOf(someRun(many))).toBe(5);
    expect(exitCodeOf(someRun({ ...many, acceptances: acceptedWith(29) }))).toBe(5);
    expect(exitCodeOf(someRun({ ...many, acceptances: acceptedWith(30) }))).toBe(0);
    expect(exitCodeOf(someRun({ ...many, acceptances: { volume: { at: 1, by: 'ada' } } }))).toBe(5);
  });

  it.each([
    [new UsageError('--out requires --dry-run'), 2, 'usage', '--out requires --dry-run'],
    [
      new ConfigurationError('my.yaml', [{ path: 'source', message: 'is missing' }]),
      2,
      'configuration',
      'my.yaml cannot be used:\n  source: is missing',
    ],
    [
      new LedgerUnusableError('/data/ledger.db', 'expected a file, got: a folder'),
      2,
      'configuration',
      'the ledger /data/ledger.db cannot be used: expected a file, got: a folder',
    ],
    [new DayBusyError('that day is being run'), 4, 'busy', 'that day is being run'],
    [
      new FencedError('run-a'),
      4,
      'busy',
      'run run-a was taken over by another process; this one stops writing to it',
    ],
    [new StoppedError('SIGTERM'), 1, 'stopped', 'stopped by SIGTERM'],
    [new DatabaseBusyError('ledger.db is locked'), 1, 'internal', 'ledger.db is locked'],
    [new SftpError('denied', 'denied', 'upload x: denied'), 1, 'internal', 'upload x: denied'],
    [new SourceError('missing', 'there is no file x.csv'), 1, 'internal', 'there is no file x.csv'],
  ])('and the message of our own errors: %s', (error, exitCode, kind, message) => {
    expect(describeFailure(error)).toEqual({ exitCode, class: kind, message });
  });

  it('and the message of the operating system, which names a path', () => {
    expect(describeFailure(errorOf(() => readFileSync('/nowhere/at/all')))).toEqual({
      exitCode: 1,
      class: 'internal',
      message: "ENOENT: no such file or directory, open '/nowhere/at/all'",
    });
  });
});

describe('an error that is not ours', () => {
  const guest = 'Ana Lovelace';
  const coded = Object.assign(new TypeError(guest), { code: 'ERR_SOMETHING' });

  it.each([
    [errorOf(() => JSON.parse(`{"BookingClientName": ${guest}`)), 'unexpected SyntaxError'],
    [new Error(guest), 'unexpected Error'],
    [coded, 'unexpected TypeError ERR_SOMETHING'],
    [new Error('outer', { cause: new Error(guest) }), 'unexpected Error'],
    [new AggregateError([new Error(guest)], guest), 'unexpected AggregateError'],
  ])('never has its message shown: %#', (error, beginning) => {
    expect(describeFailure(error)).toEqual({
      exitCode: 1,
      class: 'internal',
      message: `${beginning}; run it again with --stack-trace to see where`,
    });
  });

  it.each([guest, undefined, { message: guest }])('may be no error at all: %#', (thrown) => {
    expect(describeFailure(thrown)).toEqual({ exitCode: 1, class: 'internal', message: 'unexpected error' });
    expect(stackFrames(thrown)).toBe('');
  });

  it.each([guest, `first line\n    at ${guest} (guest.js:1:1)\nlast line`, ''])(
    'shows where it was thrown, without its message: %#',
    (message) => {
      const frames = stackFrames(new Error(message));
      expect(frames).toContain('exit-code.test.ts');
      expect(frames).not.toContain(guest);
      for (const line of frames.split('\n')) expect(line).toMatch(/^ +at /);
    },
  );
});

function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
