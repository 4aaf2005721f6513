import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import type { CallResult } from '../../../src/service/call-result.js';
import { ArchiveError } from '../../../src/storage/archive.js';
import { SftpError, type SftpSession } from '../../../src/transports/sftp/sftp.js';
import { unavailable } from '../scripted-service.js';
import { fileOf } from './file-bookings.js';
import { fileBookings, now, remote } from './file-run.js';
import { pathPrefix, resultOf, resultPath, uploadedDay, writtenDay } from './server-day.js';

const file = fileOf(fileBookings(5)).toString();
const hourMs = 3_600_000;
const toldPath = `${pathPrefix}${remote.path}`;
const unanswered = { ...unavailable, outcomeUnknown: true };
const notFound: CallResult = { kind: 'fatal', code: 'http-404', httpStatus: 404 };
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

  it('removes what an attempt has left, and archives an earlier result unless a guest of the day was erased', async () => {
    for (const isErased of [false, true]) {
      const day = await writtenDay();
      const { id } = await day.ledger.runs.get(day.run().id);
      if (isErased) await day.ledger.guests.beginErasing(id, now);
      day.server.put(`${remote.folder}/20112026.${id}.0-0.part`, 'half');
      day.server.put(resultPath, 'of Ana\n');
      await day.upload();
      expect(Object.keys(day.server.readAll())).toEqual([remote.path]);
      const earlier = [`earlier-${hash('of Ana\n')}-20112026_Result.csv`];
      expect(await day.parts.archive.list('2026-11-20', id)).toEqual(isErased ? [] : earlier);
    }
  });

  it('leaves an earlier result on the server until it is archived', async () => {
    const day = await writtenDay();
    day.server.put(resultPath, 'earlier\n');
    day.set({
      archive: {
        ...day.parts.archive,
        store: async () => Promise.reject(new ArchiveError('unwritable', 'full')),
      },
    });
    expect(await day.upload()).toMatchObject({ kind: 'retryable' });
    expect(String(day.server.read(resultPath))).toBe('earlier\n');
  });

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
    ['replaced by a later one of its size', ({ server }) => server.replace(remote.path, other, now + 1_000)],
    ['replaced by an older one of its size', ({ server }) => server.replace(remote.path, other, now - 9_000)],
    ['cut off', ({ server }) => server.replace(remote.path, file.slice(0, -40), now)],
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

  it('does not publish once more what the server took away at once, and calls whatever lies there already', async () => {
    const day = await writtenDay();
    day.change({ publish: (...file) => day.session.publish(...file).then(() => undefined) });
    await day.upload();
    await day.session.remove(remote.path);
    day.server.put(resultPath, resultOf([]));
    expect(await day.trigger()).toMatchObject({ kind: 'done', evidence: { code: 'ok' } });
    expect([day.calls.length, day.countPublished()]).toEqual([1, 1]);
  });

  it.each<[string, string | undefined, number]>([
    ['it is there', resultOf([4]), 1],
    ['there is none', undefined, 2],
    ['it names no booking', 'BookingReferenceId,IsCorrectMapping\n', 2],
    ['it names others, too', `${resultOf([0], [0])}${resultOf([], [1]).replaceAll('BR-1', 'XX-1')}`, 2],
  ])('after a call that may have arrived asks for the result, and where %s', async (_, result, calls) => {
    const day = await uploadedDay(unanswered, unavailable);
    expect(await day.trigger()).toMatchObject({ kind: 'retryable', outcomeUnknown: true });
    expect(day.run().file).not.toHaveProperty('triggeredAt');
    if (result !== undefined) day.server.put(resultPath, result);
    const outcome = await day.trigger();
    expect(day.calls).toHaveLength(calls);
    if (calls === 1)
      expect(outcome).toMatchObject({ kind: 'done', evidence: { code: 'result-found' }, nothingSent: true });
    else expect(outcome).toMatchObject({ kind: 'retryable', outcomeUnknown: false });
  });

  it.each([
    [0, 'if service.baseUrl is right, '],
    [1, 'the service has accepted earlier calls, so address and key '],
  ])(
    'of a file that the service does not find names its path, after %d that it took: %s',
    async (delivered, words) => {
      const day = await uploadedDay(notFound);
      day.pretend({ counts: { ...day.run().counts, delivered } });
      const path = `does not find the file ${toldPath}: check file.sftp.root and file.ftpFilePathPrefix`;
      const advice = expect.stringMatching(new RegExp(`^${words}.*${path}$`));
      expect(await day.trigger()).toMatchObject({ kind: 'fatal', advice });
    },
  );

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

/** The review has begun. */
async function triggeredDay() {
  const day = await uploadedDay();
  await day.trigger();
  return day;
}

describe('a result', () => {
  it('that cannot be read is read once more by whoever takes the run over: a setting may have been changed', async () => {
    const day = await triggeredDay();
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
    const day = await triggeredDay();
    day.server.put(resultPath, resultOf([]));
    day.change({
      async download(path, local, options) {
        await day.session.download(path, local, options);
        return download(path, local, options);
      },
    });
    expect(await day.look()).toMatchObject({ kind: 'waiting', evidence: { code: 'result-growing' } });
  });

  it.each([
    [
      'does not fit on the disk',
      new SftpError('retryable', 'no-local-space', ''),
      'retryable: sftp-no-local-space',
    ],
    ['cannot be archived', new ArchiveError('unwritable', 'full'), 'retryable: archive-unwritable'],
    ['cannot be kept', new SftpError('retryable', 'local-file', ''), 'retryable: sftp-local-file'],
    ['is on a server that is away', new SftpError('retryable', 'timeout', ''), 'overdue: sftp-timeout'],
  ])('that %s, after its time', async (_, error, expected) => {
    const day = await triggeredDay();
    day.reach(now + hourMs);
    day.set({ sftp: { connect: () => Promise.reject(error) } });
    const { kind, evidence } = await day.look();
    expect(`${kind}: ${evidence.code}`).toBe(expected);
  });

  it('in files of which nobody knows the newer one is incorrect by any of them', async () => {
    const day = await triggeredDay();
    day.server.put(resultPath, resultOf([1, 2]));
    day.server.put(resultPath.replace('_', '_2_'), resultOf([3]), now + 9_000);
    day.change({ examineTime: async () => 'clock' });
    day.reach(now + 9_000);
    expect(await day.look()).toMatchObject({ kind: 'done' });
    expect(await day.affected()).toEqual([1, 2, 3]);
  });

  it('is quiet since its bytes changed, not since it was written', async () => {
    const day = await triggeredDay();
    const lookAt = async (incorrect: number, after: number) => {
      day.reach(now + after);
      day.server.replace(resultPath, resultOf([incorrect], [0, 1, 2]), now + after);
      await day.look();
      return day.run().file?.growing;
    };
    await lookAt(1, 0);
    expect(await lookAt(1, 29_999)).toMatchObject({ since: now });
    expect(await lookAt(1, 30_000)).toMatchObject({ since: now, isRead: true });
    expect(await lookAt(2, 31_000)).toMatchObject({ since: now + 31_000 });
  });

  it('of incorrect ones only counts once it is quiet, however many of them it has', async () => {
    const day = await triggeredDay();
    day.set({ resultNames: 'incorrect', resultPollMs: hourMs });
    day.server.put(resultPath, resultOf([3], [3]));
    expect(await day.look()).toMatchObject({ kind: 'waiting', evidence: { code: 'result-growing' } });
    day.reach(now + 29_999);
    expect(await day.look()).toMatchObject({ kind: 'waiting', until: now + 30_000 });
    day.reach(now + 30_000);
    expect(await day.look()).toMatchObject({ kind: 'done', file: { verdicts: { unanswered: 0 } } });
    expect(await day.affected()).toEqual([3]);
  });

  it('of a run of which a guest was erased is judged, and nothing of it is kept', async () => {
    const day = await triggeredDay();
    day.pretend({ guestErasedAt: now });
    day.server.put(resultPath, resultOf([1]));
    day.server.put(resultPath.replace('_', '_2_'), resultOf([]).replaceAll('BR-', 'XX-'));
    expect(await day.look()).toMatchObject({ kind: 'done', file: { notOurs: [{}] } });
    expect(await day.parts.spool.list()).toEqual([]);
    expect(await day.parts.archive.list('2026-11-20', day.run().id)).toEqual([]);
  });

  it('of others is set aside with those that came before it', async () => {
    const day = await triggeredDay();
    for (const place of ['_2_', '_3_']) {
      day.server.put(resultPath.replace('_', place), resultOf([]).replaceAll('BR-', `${place}XX-`));
      await day.look();
      day.reach(day.clock() + 60_000);
    }
    const { notOurs, setAside } = day.run().file ?? {};
    expect([notOurs?.length, setAside?.length]).toEqual([2, 2]);
  });

  it('of others leaves what ours said before it disappeared', async () => {
    const day = await triggeredDay();
    day.server.put(resultPath, resultOf([1], [0, 1, 2]));
    await day.look();
    await day.session.remove(resultPath);
    day.server.put(resultPath.replace('_', '_2_'), resultOf([]).replaceAll('BR-', 'XX-'));
    day.reach(now + 60_000);
    expect(await day.look()).toMatchObject({ kind: 'waiting', evidence: { code: 'result-not-ours' } });
    expect(day.run().file).toMatchObject({ verdicts: { affected: 1, unanswered: 2 } });
  });

  it('that is first seen after its time is given the time to become whole', async () => {
    const day = await triggeredDay();
    day.set({ resultPollMs: 9 * hourMs });
    day.reach(now + hourMs);
    day.server.put(resultPath, resultOf([3], [3]));
    expect(await day.look()).toMatchObject({
      ...{ kind: 'waiting', evidence: { code: 'result-growing' } },
      until: now + 1.5 * hourMs,
    });
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
    const day = step === 'upload' ? await writtenDay() : await triggeredDay();
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
    const day = await triggeredDay();
    day.server.put(resultPath, `BookingReferenceId,IsCorrectMapping\n${'B,true\n'.repeat(20_000)}`);
    const message = expect.stringContaining('the result has more than 10,050 rows for 5 that were sent');
    expect(await day.look()).toMatchObject({ kind: 'refused', class: 'data', file: { excess: { message } } });
  });
});
