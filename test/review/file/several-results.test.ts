import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { runToJson } from '../../../src/review/day/report.js';
import { archiveRun } from '../../../src/review/file/archive-run.js';
import { awaitResult } from '../../../src/review/file/await-result.js';
import { type FileParts, spoolReviewFile } from '../../../src/review/file/file-attempt.js';
import { verifyRun } from '../../../src/review/file/verify-run.js';
import type { Run } from '../../../src/rules/run.js';
import type { Outcome } from '../../../src/rules/step.js';
import { claimStep, record } from '../../contracts/ledger/days.js';
import { fileBooking, fileOf } from './file-bookings.js';
import { attemptOf, now, prepareFileRun } from './file-run.js';
import { createResultServer, resultOf } from './result-server.js';

const [first, second] = ['20112026_1_Result.csv', '20112026_2_Result.csv'];
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const foreign = `${fileOf([fileBooking({ bookingReferenceId: 'XX-1' })])
  .toString()
  .replaceAll(/\n(?=.)/g, ',IsCorrectMapping\n')
  .trimEnd()},false\n`;

describe('a result in two files', () => {
  it('is complete once the two name every booking together', async () => {
    const day = await triggeredDay();
    day.server.write(first, resultOf([1], [0, 1, 2]));
    expect(await day.look()).toMatchObject({ kind: 'waiting', file: { verdicts: { unanswered: 2 } } });
    day.server.write(second, resultOf([4], [3, 4]));
    expect(await day.look()).toMatchObject({ kind: 'done' });
    expect(await day.affected()).toEqual([1, 4]);
    expect(day.run().file).toMatchObject({
      result: { name: second, isWhole: true, rows: 2, others: [{ name: first, rows: 3 }] },
      verdicts: { affected: 2, unanswered: 0, unclear: 0 },
    });
    expect(runToJson(day.run(), { now, timezone: 'UTC' }).file).toMatchObject({
      resultName: second,
      otherResults: [first],
    });
  });

  it('is archived byte for byte, and verified', async () => {
    const day = await triggeredDay();
    const texts = [resultOf([1], [0, 1, 2]), resultOf([4], [3, 4])] as const;
    day.server.write(first, texts[0]);
    day.server.write(second, texts[1]);
    await day.look();
    await day.archive();
    for (const [index, name] of [first, second].entries())
      expect(await readFile(day.archived(name), 'utf8')).toBe(texts[index]);
    const { files } = JSON.parse(await readFile(day.archived('manifest.json'), 'utf8'));
    expect(files).toContainEqual({ name: first, bytes: texts[0].length, sha256: sha256(texts[0]) });
    const items = await verifyRun({ ...day.parts, ledger: day.ledger }, day.run());
    expect(items.filter(({ fault }) => fault !== undefined)).toEqual([]);
    expect(items.map(({ item }) => item)).toContain(`manifest.json, of ${first}`);
    expect(day.run().file).not.toHaveProperty('laterResults');
  });

  it.each([
    ['the newer one is right', 'kept', resultOf([1, 2]), resultOf([3]), [3]],
    ['without kept times, incorrect counts', 'clock', resultOf([1, 2]), resultOf([3]), [1, 2, 3]],
    ['without times, incorrect counts', 'none', resultOf([1, 2]), resultOf([3]), [1, 2, 3]],
  ] as const)('that disagree: %s', async (_, keepsTimes, one, other, affected) => {
    const day = await triggeredDay({ keepsTimes });
    day.server.write(first, one);
    day.server.write(second, other);
    expect(await day.look()).toMatchObject({ kind: 'done' });
    expect(await day.affected()).toEqual(affected);
  });

  it('that disagree and are equally old: incorrect counts', async () => {
    const day = await triggeredDay();
    day.server.write(first, resultOf([1]), 5);
    day.server.write(second, resultOf([2]), 5);
    await day.look();
    expect(await day.affected()).toEqual([1, 2]);
  });

  it('is judged without one that is not ours, which is set aside alone', async () => {
    const day = await triggeredDay();
    day.server.write(first, resultOf([1]));
    day.server.write(second, foreign);
    expect(await day.look()).toMatchObject({
      kind: 'done',
      file: { result: { name: first }, setAside: [{ name: second, foreign: 1, ours: 0 }] },
    });
    expect(day.run().file?.result).not.toHaveProperty('others');
    expect(await day.affected()).toEqual([1]);
    expect(await readFile(day.archived(`foreign-${sha256(foreign).slice(0, 12)}-${second}`), 'utf8')).toBe(
      foreign,
    );
  });

  it('is not accepted while one of them has a column twice, and says which', async () => {
    const day = await triggeredDay();
    day.server.write(first, resultOf([1]));
    const twice = resultOf([2]).replace('IsCorrectMapping', 'IsCorrectMapping,is_correct_mapping');
    day.server.write(second, twice.replaceAll(/,(true|false)\n/g, ',$1,true\n'));
    expect(await day.look()).toMatchObject({
      kind: 'refused',
      evidence: { code: 'result-unreadable' },
      file: { unreadable: { ambiguous: ['IsCorrectMapping (column 8)', 'is_correct_mapping (column 9)'] } },
    });
  });
});

describe('a result that is not complete', () => {
  it.each(['kept', 'none'] as const)(
    'is quiet since its bytes changed, not since it was written; times: %s',
    async (keepsTimes) => {
      const day = await triggeredDay({ keepsTimes });
      const quietMs = day.parts.resultQuietMs;
      const lookAt = async (text: string, afterMs: number) => {
        day.server.write(first, text, afterMs);
        await day.look(afterMs);
        return day.run().file?.growing;
      };
      const [two, other] = [resultOf([1], [0, 1]), resultOf([2], [0, 2])];
      expect(two).toHaveLength(other.length);
      await lookAt(two, 0);
      expect(await lookAt(two, quietMs - 1)).toMatchObject({ since: now });
      expect(await lookAt(two, quietMs)).toMatchObject({ since: now, isRead: true });
      expect(await lookAt(other, quietMs + 1)).toMatchObject({ since: now + quietMs + 1 });
    },
  );
});

describe('a booking that was called incorrect', () => {
  it('stays so when the result is written again without it, and is cleared when it is called correct', async () => {
    const day = await triggeredDay();
    day.server.write(first, resultOf([1], [0, 1]), 1);
    await day.look();
    day.server.write(first, resultOf([], [0, 2]), 2);
    expect(await day.look()).toMatchObject({ file: { verdicts: { affected: 1, unanswered: 2 } } });
    expect(await day.affected()).toEqual([1]);
    day.server.write(first, resultOf([]), 3);
    expect(await day.look()).toMatchObject({ kind: 'done', file: { verdicts: { affected: 0 } } });
    expect(await day.affected()).toEqual([]);
  });

  it('stays so when another file that is older calls it correct', async () => {
    const day = await triggeredDay();
    day.server.write(second, resultOf([1], [0, 1]), 9);
    await day.look();
    day.server.remove(second);
    day.server.write(first, resultOf([]), 5);
    expect(await day.look()).toMatchObject({ kind: 'done', file: { verdicts: { affected: 1 } } });
    expect(await day.affected()).toEqual([1]);
  });

  it('stays so when the file that said so is set aside, and nothing is known about the others', async () => {
    const day = await triggeredDay();
    day.server.write(first, resultOf([1], [0, 1]), 1);
    await day.look();
    const rows = foreign.slice(foreign.indexOf('\n') + 1);
    day.server.write(first, resultOf([1], [0, 1]) + rows.repeat(3), 2);
    expect(await day.look(1)).toMatchObject({
      evidence: { code: 'result-not-ours' },
      file: { verdicts: { affected: 1, unanswered: 4 } },
    });
    expect(await day.affected()).toEqual([1]);
    expect(day.run().file?.verdicts).not.toHaveProperty('listsUnanswered');
  });

  it('raises the number of its verdicts only if they change', async () => {
    const day = await triggeredDay();
    expect(day.run().verdictsRecorded).toBe(0);
    day.server.write(first, resultOf([1], [0, 1]), 1);
    await day.look();
    await day.look(1);
    expect(day.run().verdictsRecorded).toBe(1);
    day.server.write(first, resultOf([1]), 2);
    await day.look(2);
    expect(day.run().verdictsRecorded).toBe(2);
  });
});

/** A run whose file is with the service, and a server without a result yet. */
async function triggeredDay(server: Parameters<typeof createResultServer>[0] = {}) {
  const prepared = await prepareFileRun();
  const { ledger } = prepared;
  const results = createResultServer(server);
  let clock = now;
  const parts: FileParts = {
    ...prepared.parts,
    clock: () => clock,
    sftp: { connect: async () => results.session },
  };
  const { bytes, sha256 } = await spoolReviewFile(parts, prepared.run);
  await prepared.finish('write', { rows: 5, bytes, sha256 });
  await prepared.finish('upload', { remotePath: 'VerifyMappings/112026/20112026.csv' });
  let run: Run = await prepared.finish('trigger', { triggeredAt: now });
  let attempts = 0;

  async function perform(
    step: string,
    attempt: number,
    act: (attempt: ReturnType<typeof attemptOf>) => Promise<Outcome>,
  ) {
    const claim = await claimStep(ledger, run, step, attempt);
    const outcome = await act(attemptOf(parts, run, claim));
    ({ run } = await record(ledger, claim, outcome, now));
    return outcome;
  }
  return {
    ...{ ledger, parts, server: results, archived: prepared.archived, run: () => run },
    /** @param afterMs since the trigger */
    look(afterMs = 0) {
      clock = now + afterMs;
      attempts += 1;
      return perform('await-result', attempts, awaitResult);
    },
    archive: () => perform('archive', 1, archiveRun),
    /** The numbers of the bookings that are recorded as incorrect. */
    async affected() {
      const found = await ledger.bookings.listEverIncorrect(run.id);
      const incorrect = found.filter(({ judged }) => judged === 'incorrect');
      return incorrect.flatMap(({ batch, rows }) => rows.map((row) => 2 * batch + row));
    },
  };
}
