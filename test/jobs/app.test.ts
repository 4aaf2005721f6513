import { expect, it, onTestFinished, vi } from 'vitest';
import { type App, withApp } from '../../jobs/app.js';
import { cancelIn } from '../../jobs/commands/cancel.js';
import { createLedgerGate, keepArchiveTold } from '../../jobs/ledger-gate.js';
import { createReports, createTerminal } from '../../jobs/terminal.js';
import { LedgerAwayError } from '../../src/ledger/errors.js';
import { parseMark } from '../../src/ledger/identity.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { Observer } from '../../src/notify/events.js';
import { ArchiveError } from '../../src/storage/archive.js';
import { parse, sftp } from '../config/writing.js';
import { at, claimStep, collectedRun, day } from '../contracts/ledger/days.js';
import { someRun } from '../review/some-run.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { captureIo } from '../support/command-io.js';
import { fakeLedger } from '../support/fake-ledger.js';
import { createGate } from '../support/gate.js';
import { makeTemporaryFolder } from '../support/temporary-folder.js';

it('an archive that refused is asked again before each run, and is no problem by body, or once it answers', async () => {
  let isRefusing = true;
  const cause = new ArchiveError('unreadable', 'no such key', { peer: 'refused' });
  const readLedgerMark = async () => {
    if (isRefusing) throw cause;
    return undefined;
  };
  const config = parse({ delivery: 'file', file: { sftp } });
  const caution = vi.fn();
  const app = {
    config,
    archive: () => ({ path: '/archive', readLedgerMark }),
    keys: () => undefined,
    caution,
  };
  const ledger = await openTemporaryLedger(() => at);
  const gate = createLedgerGate(app as unknown as App, ledger);
  await expect(gate.mayReview('file')).rejects.toThrow('no such key');
  await expect(gate.checkArchive()).rejects.toThrow('no such key');
  const byBody = createLedgerGate({ ...app, config: parse() } as unknown as App, ledger);
  await byBody.mayReview('body');
  await byBody.checkArchive();
  expect(caution).toHaveBeenCalledWith(expect.stringContaining('no such key'));
  isRefusing = false;
  await gate.mayReview('file');
  await gate.checkArchive();
});

it('a ledger that takes no writes is given up only if that lasts, not if it happens again later', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  let isReadOnly = false;
  const ledger = fakeLedger({
    async verify() {
      if (isReadOnly) throw new LedgerAwayError('postgres', { fault: 'read-only' });
    },
  });
  const app = { config: parse(), archive: () => undefined, keys: () => undefined };
  const gate = createLedgerGate(app as unknown as App, ledger);
  const look = async (minutes: number) => {
    vi.setSystemTime(Date.now() + minutes * 60_000);
    await gate.mayReview('body').catch(() => {});
    return gate.check().then(
      () => 'on',
      () => 'over',
    );
  };
  const seen: string[] = [];
  for (isReadOnly of [true, false, true]) seen.push(await look(4));
  expect(seen).toEqual(['on', 'on', 'on']);
  expect(await look(6)).toBe('over');
});

it('an app whose work fails closes what it opened, and says why its work failed', async () => {
  const { io } = captureIo();
  const terminal = createTerminal({ config: 'a.yaml', reports: createReports(io.stdout, false), io });
  const config = parse({ ledger: `sqlite:${makeTemporaryFolder()}/ledger.db` });
  const opened: Ledger[] = [];
  const working = withApp(config, terminal, async (app) => {
    opened.push(await app.ledger());
    throw new Error('it failed');
  });
  await expect(working).rejects.toThrow('it failed');
  await expect(opened[0]?.runs.list({ limit: 1 })).rejects.toThrow('not open');
});

it('the archive is told of each run that ends, also of one that ends meanwhile, and after it was away', async () => {
  const [asked, answers] = [createGate(), createGate()];
  let [tellings, warnings] = [0, 0];
  const archive = {
    path: '/archive',
    async readLedgerMark() {
      tellings += 1;
      asked.open();
      await answers.passed;
      throw new Error('away');
    },
  };
  const observers: Observer[] = [];
  const app = {
    archive: () => archive,
    observe: (observer: Observer) => void observers.push(observer),
    warn: () => {
      warnings += 1;
    },
  } as unknown as App;
  const told = keepArchiveTold(app, fakeLedger({}));
  const settle = () => observers[0]?.({ type: 'settled', run: someRun() });
  settle();
  await asked.passed;
  settle();
  // It is told of both at once.
  settle();
  answers.open();
  await told.close();
  expect([tellings, warnings]).toEqual([2, 2]);
  settle();
  await told.close();
  expect([tellings, warnings]).toEqual([3, 3]);
});

it('cancelling removes what the run left on this machine, unless somebody is working on it, and tells the archive', async () => {
  for (const isWorkedOn of [false, true]) {
    const ledger = await openTemporaryLedger(() => at);
    const run = await collectedRun(ledger, 'r1');
    if (isWorkedOn) await claimStep(ledger, run, 'batch 0');
    const removed: string[] = [];
    const spool = {
      list: async () => ['r1.csv', 'r2.csv'],
      remove: async (names: readonly string[]) => void removed.push(...names),
    };
    const marks: string[] = [];
    const archive = {
      readLedgerMark: () => (isWorkedOn ? Promise.reject(new Error('away')) : Promise.resolve(undefined)),
      writeLedgerMark: async (text: string) => void marks.push(text),
    };
    const app = { ledger: async () => ledger, spool: () => spool, archive: () => archive } as unknown as App;
    const result = await cancelIn(app, day, 'wrong export');
    expect(result).toMatchObject({ run: { state: 'cancelled' }, wasBeingWorkedOn: isWorkedOn });
    expect(removed).toEqual(isWorkedOn ? [] : ['r1.csv']);
    expect(marks.map((mark) => parseMark(mark)?.latestRun?.id)).toEqual(isWorkedOn ? [] : ['r1']);
  }
});
