import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import { awaitResult } from '../../../src/review/file/await-result.js';
import { type FileAttempt, type FileParts, spoolReviewFile } from '../../../src/review/file/file-attempt.js';
import { triggerReview, uploadReviewFile } from '../../../src/review/file/file-delivery.js';
import type { Run } from '../../../src/rules/run.js';
import type { Outcome } from '../../../src/rules/step.js';
import type { Verdict } from '../../../src/service/verdict.js';
import { SftpError, type SftpSession } from '../../../src/transports/sftp/sftp.js';
import { claimStep, record, rightOf } from '../../contracts/ledger/days.js';
import { createOutside } from '../../crash/outside.js';
import { createSftpDouble } from '../../crash/sftp-double.js';
import { ok, unavailable } from '../scripted-service.js';
import { fileOf } from './file-bookings.js';
import { attemptOf, fileBookings, now, prepareFileRun, remote } from './file-run.js';
import { resultOf } from './result-server.js';

const file = fileOf(fileBookings(5)).toString();
const hourMs = 3_600_000;
/** Of what the service is told. */
const pathPrefix = 'acme/';
const toldPath = `${pathPrefix}${remote.path}`;
const resultPath = `${remote.folder}/20112026_Result.csv`;
const unanswered = { ...unavailable, outcomeUnknown: true };
const notFound: Verdict = { kind: 'fatal', code: 'http-404', httpStatus: 404 };
/** The bytes of a file of the same size. */
const other = file.replace('Ana', 'Eva');
const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);

describe('upload', () => {
  it.each(['kept', 'clock', 'none'] as const)(
    'keeps an old result that must stay on a server whose times are %s, and it is never taken for the new one',
    async (keepsTimes) => {
      const day = await writtenDay();
      const old = resultOf([0]);
      day.server.put(resultPath, old);
      const seen = { kept: (at: number) => at, clock: () => day.clock(), none: () => undefined }[keepsTimes];
      day.change({
        remove: async () => 'denied',
        examineTime: async () => keepsTimes,
        list: async (folder) =>
          (await day.session.list(folder)).map(({ modifiedAt = 0, ...found }) => {
            const shown = seen(modifiedAt);
            return { ...found, ...(shown !== undefined && { modifiedAt: shown }) };
          }),
      });
      await day.upload();
      await day.trigger();
      expect(await readFile(day.archived(`earlier-${hash(old)}-20112026_Result.csv`), 'utf8')).toBe(old);
      day.reach(now + 1_000);
      expect(await day.look()).toMatchObject({ kind: 'waiting', evidence: { code: 'result-absent' } });
      // As large as the old one.
      day.server.replace(resultPath, resultOf([3]), now + 1_000);
      expect(await day.look()).toMatchObject({ kind: 'done', verdicts: [{ batch: 1, rows: [1] }] });
    },
  );

  it('is refused where the file cannot get its name, and leaves the earlier one there and nothing else', async () => {
    const day = await writtenDay();
    day.server.put(remote.path, 'earlier\n');
    day.change({ publish: () => Promise.reject(new SftpError('denied', 'permission-denied', 'no')) });
    expect(await day.upload()).toMatchObject({ kind: 'refused' });
    expect(day.server.readAll()).toEqual({ [remote.path]: 'earlier\n' });
  });

  it.each(['upload', 'download'] as const)(
    'changes nothing once the run was taken over during the %s',
    async (during) => {
      const day = await writtenDay();
      day.server.put(resultPath, 'earlier\n');
      day.change({
        [during]: async (...given: never[]) => {
          await day.takeOver();
          return (day.session[during] as (...given: never[]) => Promise<never>)(...given);
        },
      });
      await expect(day.upload()).rejects.toThrow(FencedError);
      expect(day.server.read(remote.path)).toBeUndefined();
      expect(day.server.read(resultPath) === undefined).toBe(during === 'upload');
    },
  );
});

type Day = Awaited<ReturnType<typeof uploadedDay>>;

describe('trigger', () => {
  it.each<[string, (day: Day) => unknown]>([
    ['removed', ({ session }) => session.remove(remote.path)],
    ['replaced', ({ server }) => server.replace(remote.path, 'somebody else was here\n', now + 1_000)],
    ['replaced by a later one of its size', ({ server }) => server.replace(remote.path, other, now + 1_000)],
    ['replaced by an older one of its size', ({ server }) => server.replace(remote.path, other, now - 9_000)],
    ['cut off', ({ server }) => server.replace(remote.path, file.slice(0, -40), now)],
    ['removed, and so is the spool', async (day) => day.loseBoth()],
    ['removed, and its copy in the spool changed', async (day) => day.loseBoth(other)],
  ])('publishes a file again that was %s, before its call', async (_, tamper) => {
    const day = await uploadedDay();
    await tamper(day);
    day.reach(now + 1_000);
    expect(await day.trigger()).toMatchObject({ kind: 'done', evidence: { code: 'ok' } });
    expect(day.calls).toEqual([{ path: toldPath, file }]);
  });

  it('leaves a file alone that was only touched', async () => {
    const day = await uploadedDay();
    day.server.replace(remote.path, file, now + 1_000);
    day.reach(now + 1_000);
    await day.trigger();
    expect(day.calls).toEqual([{ path: toldPath, file }]);
    expect(day.countPublished()).toBe(1);
  });

  it.each<[string, string | undefined, number]>([
    ['it is there', resultOf([4]), 1],
    ['a part of it is there', resultOf([0], [0, 1]), 1],
    ['there is none', undefined, 2],
    ['it names no booking', 'BookingReferenceId,IsCorrectMapping\n', 2],
    ['it names others, too', `${resultOf([0], [0])}${resultOf([], [1]).replaceAll('BR-1', 'XX-1')}`, 2],
  ])('after a call that may have arrived asks for the result, and where %s', async (_, result, calls) => {
    const day = await uploadedDay(unanswered, unavailable);
    expect(await day.trigger()).toMatchObject({ kind: 'retryable', outcomeUnknown: true });
    if (result !== undefined) day.server.put(resultPath, result);
    const outcome = await day.trigger();
    expect(day.calls).toHaveLength(calls);
    if (calls === 1)
      expect(outcome).toMatchObject({ kind: 'done', evidence: { code: 'result-found' }, nothingSent: true });
    else expect(outcome).toMatchObject({ kind: 'retryable', outcomeUnknown: false });
  });

  it.each([
    ['the address', 0, 'if service.baseUrl is right, '],
    [
      'no address after calls that were accepted',
      1,
      'the service has accepted earlier calls, so address and key ',
    ],
  ])('of a file that the service does not find names its path, and %s', async (_, delivered, words) => {
    const day = await uploadedDay(notFound);
    day.pretend({ counts: { ...day.run().counts, delivered } });
    const path = `does not find the file ${toldPath}: check file.sftp.root and file.ftpFilePathPrefix`;
    expect(await day.trigger()).toMatchObject({
      kind: 'fatal',
      advice: expect.stringMatching(new RegExp(`^${words}.*${path}$`)),
    });
  });

  it('makes no call once the run was taken over', async () => {
    const day = await uploadedDay();
    day.change({
      async stat(path) {
        await day.takeOver();
        return day.session.stat(path);
      },
    });
    await expect(day.trigger()).rejects.toThrow(FencedError);
    expect(day.calls).toEqual([]);
  });
});

describe('a result', () => {
  it('that cannot be read is read once more by whoever takes the run over: a setting may have been changed', async () => {
    const day = await uploadedDay();
    await day.trigger();
    day.server.put(resultPath, resultOf([3]).replace('IsCorrectMapping', 'Verdict'));
    expect(await day.look()).toMatchObject({ kind: 'refused', evidence: { code: 'result-unreadable' } });
    await day.fail();
    await day.takeOver();
    day.set({ resultColumn: 'Verdict' });
    expect(await day.look()).toMatchObject({ kind: 'done', verdicts: [{ batch: 1, rows: [1] }] });
  });

  it.each<[string, SftpSession['download']]>([
    ['has another size than was listed', async () => ({ name: 'x', size: 1 })],
    ['changes', () => Promise.reject(new SftpError('retryable', 'changed-while-reading', ''))],
    ['disappears', () => Promise.reject(new SftpError('retryable', 'no-such-file', ''))],
  ])('that %s while it is read is waited for', async (_, download) => {
    const day = await uploadedDay();
    await day.trigger();
    day.server.put(resultPath, resultOf([]));
    day.change({
      async download(path, local, options) {
        await day.session.download(path, local, options);
        return download(path, local, options);
      },
    });
    expect(await day.look()).toMatchObject({ kind: 'waiting', evidence: { code: 'result-growing' } });
  });

  it('that is first seen after its time is given the time to become whole', async () => {
    const day = await uploadedDay();
    await day.trigger();
    day.reach(now + hourMs);
    day.server.put(resultPath, resultOf([3], [3]));
    expect(await day.look()).toMatchObject({ kind: 'waiting', evidence: { code: 'result-growing' } });
    day.reach(now + hourMs + 30_000);
    expect(await day.look()).toMatchObject({ kind: 'refused', class: 'data' });
  });
});

describe('a server that offers more than is accepted', () => {
  const many = Array.from({ length: 101 }, (_, number) => ({
    name: `20112026-${number}_Result.csv`,
    size: 2,
  }));

  it.each(['upload', 'look'] as const)('has none of its many results read: %s', async (step) => {
    const day = step === 'upload' ? await writtenDay() : await uploadedDay();
    if (step === 'look') await day.trigger();
    day.change({ list: async () => many, download: () => Promise.reject(new RangeError('expected none')) });
    expect(await day[step]()).toMatchObject({
      ...{ kind: 'refused', class: 'data', evidence: { code: 'sftp-too-many-results' } },
      file: { excess: { message: expect.stringContaining('has 101 files named like a result of the day') } },
    });
  });

  it('gives a result of a size that fits the file, and an earlier file of one that fits those that were sent', async () => {
    const day = await writtenDay();
    const limits: number[] = [];
    day.change({
      download(path, local, options) {
        limits.push(options.limit.bytes);
        return day.session.download(path, local, options);
      },
    });
    day.server.put(remote.path, 'earlier\n');
    await day.upload();
    await day.trigger();
    day.server.put(resultPath, resultOf([]));
    await day.look();
    expect(limits).toEqual(Array(2).fill(16_000_000 + 10 * file.length));
  });

  it('does not fill the memory with rows that were never sent', async () => {
    const day = await uploadedDay();
    await day.trigger();
    day.server.put(resultPath, `BookingReferenceId,IsCorrectMapping\n${'B,true\n'.repeat(20_000)}`);
    const message = expect.stringContaining('the result has more than 10,050 rows for 5 that were sent');
    expect(await day.look()).toMatchObject({ kind: 'refused', class: 'data', file: { excess: { message } } });
  });
});

/** A run whose file is in the spool, and an SFTP server in memory. */
async function writtenDay(...answers: readonly Verdict[]) {
  const prepared = await prepareFileRun();
  const { ledger } = prepared;
  const outside = createOutside(now);
  const server = createSftpDouble(outside);
  const session = await server.connect({ signal: new AbortController().signal });
  let changed: Partial<SftpSession> = {};
  const calls: { readonly path: string; readonly file: string }[] = [];
  const left = [...answers];
  let parts: FileParts = {
    ...prepared.parts,
    clock: outside.clock,
    pathPrefix,
    sftp: { connect: async () => ({ ...session, ...changed }) },
    service: {
      async reviewBookedHotelsByFile(path) {
        calls.push({ path, file: `${server.read(path.slice(pathPrefix.length))}` });
        return left.shift() ?? ok;
      },
    },
  };
  const { bytes, sha256 } = await spoolReviewFile(parts, prepared.run);
  let run: Run = await prepared.finish('write', { rows: 5, bytes, sha256 });
  const counts = new Map<string, number>();

  const perform = (step: string, act: (attempt: FileAttempt) => Promise<Outcome>) => async () => {
    const count = 1 + (counts.get(step) ?? 0);
    counts.set(step, count);
    const claim = await claimStep(ledger, run, step, count);
    const outcome = await act(attemptOf(parts, run, claim));
    ({ run } = await record(ledger, claim, outcome, now));
    return outcome;
  };
  return {
    ...{ server, session, calls, archived: prepared.archived, ...outside },
    upload: perform('upload', uploadReviewFile),
    trigger: perform('trigger', triggerReview),
    look: perform('await-result', awaitResult),
    run: () => run,
    async fail() {
      const failure = { class: 'data', code: 'result-unreadable', message: 'it cannot be read' } as const;
      await ledger.runs.settle(rightOf(run), { state: 'failed', failure, at: now });
    },
    async takeOver() {
      run = await ledger.runs.takeOver(run.id);
    },
    set(settings: Partial<FileParts>) {
      parts = { ...parts, ...settings };
    },
    countPublished: () => outside.log.filter(({ kind }) => kind === 'published').length,
    pretend(changes: Partial<Run>) {
      run = { ...run, ...changes };
    },
    /** Lets sessions of the server do something else. */
    change(changes: Partial<SftpSession>) {
      changed = changes;
    },
    /** Removes the file from the server, and what there is of it in the spool, or changes that. */
    async loseBoth(content?: string) {
      await session.remove(remote.path);
      await parts.spool.remove(await parts.spool.list());
      if (content !== undefined) await parts.spool.write(`${run.id}.csv`, bytesOf(content));
    },
  };
}

/** The same once the file is on the server. */
async function uploadedDay(...answers: readonly Verdict[]) {
  const day = await writtenDay(...answers);
  await day.upload();
  return day;
}

async function* bytesOf(text: string) {
  yield Buffer.from(text);
}
