import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { JudgedLines } from '../../../src/ledger/verdicts.js';
import type { Judged, JudgedRows, ResultCounts, StoredVerdict } from '../../../src/rules/review-file.js';
import type { Run } from '../../../src/rules/run.js';
import type { OpenedLedger } from '../ledger.js';
import { at, claimStep, day, done, fileLineOf, record } from './days.js';
import { collectedFileRun, performUpTo } from './file-days.js';

export function describeAffected(opened: () => OpenedLedger): void {
  describe('verdicts', () => {
    it('are listed batch by batch, with their lines, and counted', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { file: 18 });
      await collectedFileRun(ledger, 'other', { file: 18, day: '2026-11-19' });
      await performUpTo(ledger, run, 'trigger');
      await judge(ledger, run, [
        { batch: 4, judged: 'incorrect', rows: [1] },
        { batch: 0, judged: 'incorrect', rows: [0, 3] },
        { batch: 0, judged: 'not-in-result', rows: [2] },
        { batch: 3, judged: 'incorrect', rows: [2] },
        { batch: 3, judged: 'unclear', rows: [0, 1] },
      ]);
      expect((await ledger.runs.get('r1')).counts).toMatchObject({ affected: 4, unanswered: 3 });
      expect(await readAll(ledger, 'r1')).toEqual([
        { batch: 0, rows: [0, 3], lines: [fileLineOf('F-0'), fileLineOf('F-3')] },
        { batch: 3, rows: [2], lines: [fileLineOf('F-14')] },
        { batch: 4, rows: [1], lines: [fileLineOf('F-17')] },
      ]);
      expect(await readAll(ledger, 'r1', 'not-in-result')).toEqual([
        { batch: 0, rows: [2], lines: [fileLineOf('F-2')] },
      ]);
      expect(await readAll(ledger, 'r1', 'unclear')).toEqual([
        { batch: 3, rows: [0, 1], lines: [fileLineOf('F-12'), fileLineOf('F-13')] },
      ]);
      expect(await readAll(ledger, 'other')).toEqual([]);
      expect((await ledger.runs.get('other')).counts.affected).toBeNull();
    });

    it('are recorded together with the ending, or not at all', async () => {
      const { ledger, reopen } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'trigger');
      const asleep = await claimStep(ledger, run, 'await-result');
      const judged = [{ batch: 0, judged: 'incorrect', rows: [0] }] as const;
      const ending = { ...done, file: { verdicts: countJudged(judged) }, verdicts: judged };
      const twice = [...judged, ...judged];
      await expect(record(ledger, asleep, { ...ending, verdicts: twice }, at)).rejects.toThrow();
      expect(await readAll(ledger, 'r1')).toEqual([]);

      const other = await reopen();
      const owner = await other.runs.takeOver('r1');
      await expect(record(ledger, asleep, ending, at)).rejects.toThrow(FencedError);
      expect(await readAll(ledger, 'r1')).toEqual([]);
      expect((await ledger.runs.get('r1')).counts.affected).toBeNull();
      await record(other, await claimStep(other, owner, 'await-result', 2), ending, at);
      expect((await ledger.runs.get('r1')).counts.affected).toBe(1);
    });

    it('are recorded whenever they change, or what says so does, and at first even if all are correct', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'trigger');
      const said = (judged: StoredVerdict, ...sources: number[]) => [
        { batch: 0, judged, rows: [1], sources },
      ];
      const results = [
        [],
        [],
        said('incorrect', 0),
        said('incorrect', 0),
        said('incorrect', 1),
        said('cleared', 1),
      ];
      const marks = new Set<unknown>();
      const recorded: number[] = [];
      for (const [index, verdicts] of results.entries()) {
        const claim = await claimStep(ledger, run, 'await-result', index + 1);
        const waiting = { kind: 'waiting', evidence: { code: 'result-growing' }, until: at } as const;
        await record(ledger, claim, { ...waiting, file: { verdicts: countJudged(verdicts) }, verdicts }, at);
        recorded.push((await ledger.runs.get('r1')).verdictsRecorded);
        marks.add((await ledger.runs.markDays({ from: day, to: day }))[0]?.mark);
      }
      expect(recorded).toEqual([1, 1, 2, 2, 3, 4]);
      expect(marks.size).toBe(4);
      expect((await ledger.bookings.trace('F-1'))[0]).not.toHaveProperty('judged');
    });
  });
}

/** Ends `await-result` with these verdicts. */
async function judge(ledger: Ledger, run: Run, verdicts: readonly JudgedRows[], attempt = 1): Promise<void> {
  const claim = await claimStep(ledger, run, 'await-result', attempt);
  await record(ledger, claim, { ...done, file: { verdicts: countJudged(verdicts) }, verdicts }, at);
}

function countJudged(verdicts: readonly JudgedRows[]): ResultCounts {
  const count = (wanted: Judged) =>
    verdicts.reduce((sum, { judged, rows }) => sum + (judged === wanted ? rows.length : 0), 0);
  return {
    affected: count('incorrect'),
    unanswered: count('not-in-result'),
    unclear: count('unclear'),
    malformed: 0,
    listsUnanswered: true,
  };
}

async function readAll(ledger: Ledger, runId: string, judged: Judged = 'incorrect'): Promise<JudgedLines[]> {
  const all: JudgedLines[] = [];
  for (
    let next = await ledger.bookings.nextJudged(runId, judged);
    next;
    next = await ledger.bookings.nextJudged(runId, judged, next.batch)
  ) {
    // Guards against an endless loop.
    expect(next.batch).toBeGreaterThan(all.at(-1)?.batch ?? -1);
    all.push(next);
  }
  return all;
}
