import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.js';
import { defaultResultPattern } from '../../src/review/file/remote-files.js';
import { verifyRun } from '../../src/review/file/verify-run.js';
import { eraseGuest } from '../../src/review/guests/erase-guest.js';
import { findGuest } from '../../src/review/guests/guest.js';
import { createDirectoryArchive } from '../../src/storage/archive.js';
import { createDirectorySpool } from '../../src/storage/spool.js';
import { findText } from '../support/found-text.js';
import { beginLife, type Death, throughLife } from './life.js';
import { parentFolder } from './live.js';
import { createOutside } from './outside.js';
import { composeProcess, day, timezone } from './process.js';
import { byFile } from './scenarios.js';
import { createServiceDouble } from './service-double.js';
import { createSftpDouble, sftpActions } from './sftp-double.js';
import { sqlite } from './sqlite-engine.js';

const reference = 'BR-4';
const startsAt = Date.parse('2026-11-21T02:30:00Z');

/** A reviewed day, on which a guest can be erased. */
async function liveReviewedDay() {
  const folder = mkdtempSync(join(parentFolder, 'erased-guest-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const outside = createOutside(startsAt);
  const sftp = createSftpDouble(outside);
  const service = createServiceDouble(outside, sftp, byFile.troubles);
  const place = await sqlite.openPlace(folder);
  const archive = createDirectoryArchive({ root: join(folder, 'archive'), account: 'an-account' });
  const spool = createDirectorySpool({ root: join(folder, 'spool') });

  async function inProcess<Result>(work: (ledger: Ledger) => Promise<Result>): Promise<Result> {
    const ledger = place.open(outside.clock);
    try {
      return await work(ledger);
    } finally {
      await ledger.close();
    }
  }
  const review = () =>
    inProcess((ledger) => {
      const parts = { ...byFile, ledger, life: beginLife(), service, sftp, folder, outside, isSerial: false };
      return composeProcess(parts).review();
    });

  /** What `guest erase` does, until its death. @returns its points */
  async function erase(all: boolean, death?: Death) {
    const life = beginLife(death);
    const stop = sqlite.countCommits(() => ({ life, onCommit: () => {} }));
    try {
      const receipt = await inProcess(async (ledger) => {
        const guest = await findGuest(ledger, reference);
        const parts = {
          ledger,
          archive: throughLife(life, 'archive', archive, ['remove']),
          spool: throughLife(life, 'spool', spool, ['write', 'remove']),
          sftp: {
            connect: (options: Parameters<typeof sftp.connect>[0]) =>
              life.pass('sftp.connect', async () =>
                throughLife(life, 'sftp', await sftp.connect(options), sftpActions),
              ),
          },
          ...{ resultPattern: defaultResultPattern, timezone, dryRun: false },
          signal: new AbortController().signal,
        };
        return eraseGuest(parts, { guest, all, at: outside.clock() });
      });
      return { points: life.points, receipt };
    } catch (error) {
      if (!life.isOver) throw error;
      return { points: life.points, receipt: undefined };
    } finally {
      stop();
    }
  }

  const judge = (name: string) =>
    inProcess(async (ledger) => {
      const run = await ledger.runs.latest(day.iso);
      if (!run) throw new Error('expected a run');
      await ledger.guests.clearRemains();
      const items = await verifyRun({ ledger, archive }, run);
      return {
        state: run.state,
        affected: run.counts.affected,
        incorrect: (await ledger.bookings.listEverIncorrect(run.id)).length,
        faults: items.filter(({ fault }) => fault !== undefined),
        archived: await archive.list(day.iso, run.id),
        spooled: await spool.list(),
        onServer: Object.keys(sftp.readAll()),
        holding: findText(folder, name),
      };
    });

  await review();
  outside.reach(Date.parse('2026-11-21T14:30:00Z'));
  await review();
  return { folder, review, erase, judge, inProcess };
}

it.each([
  ['the name', false],
  ['everything', true],
])(
  'an erasure of %s that dies anywhere is finished by the next one, and loses nothing else',
  async (_, all) => {
    const undisturbed = await liveReviewedDay();
    const guest = await undisturbed.inProcess((ledger) => findGuest(ledger, reference));
    const [name = ''] = guest.names;
    expect(findText(undisturbed.folder, name).length).toBeGreaterThan(2);
    const { points, receipt } = await undisturbed.erase(all);
    expect(receipt?.left).toEqual([]);
    const expected = await undisturbed.judge(name);
    expect(expected).toEqual({
      ...{ state: 'succeeded', affected: 1, incorrect: 1, faults: [] },
      ...{ archived: ['manifest.json'], spooled: [], onServer: [], holding: [] },
    });
    expect(points).toEqual(expect.arrayContaining(['commit', 'archive.remove', 'sftp.remove']));
    // Before a point is after the one before.
    for (const at of points.keys()) {
      const lived = await liveReviewedDay();
      await lived.erase(all, { at: at + 1, mode: 'after' });
      // Whatever is left, the day stays as it was.
      expect({ at, state: (await lived.review()).state }).toEqual({ at, state: 'succeeded' });
      const again = await lived.erase(all);
      expect({ at, left: again.receipt?.left }).toEqual({ at, left: [] });
      expect({ at, ...(await lived.judge(name)) }).toEqual({ at, ...expected });
    }
  },
);
