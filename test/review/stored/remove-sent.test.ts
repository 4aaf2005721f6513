import { describe, expect, it } from 'vitest';
import { listSent, removeSentFiles } from '../../../src/review/stored/remove-sent.js';
import { SftpError, type SftpSession } from '../../../src/transports/sftp/sftp.js';
import { rightOf } from '../../contracts/ledger/days.js';
import { addFileRun } from '../../desk/some-file-run.js';
import { now, remote } from '../file/file-run.js';
import { judgedDay } from '../file/server-day.js';

const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
const denied = () => Promise.reject(new SftpError('denied', 'permission-denied', 'no'));

describe('files that are due on the SFTP server', () => {
  it('are removed once they are old enough, and no others', async () => {
    const { server, remove, outcomes } = await sentDay();
    server.put(`${remote.folder}/21112026.csv`, 'of another day\n');
    await remove('2026-11-21');
    expect(await outcomes()).toEqual([]);
    expect(await remove()).toEqual({ denied: 0, isNewlyDenied: false });
    expect(Object.keys(server.readAll())).toEqual([`${remote.folder}/21112026.csv`]);
    expect(await outcomes()).toEqual(['removed', 'removed']);
  });

  it.each([
    ['go with the names of their run', 0, []],
    ['stay if a later run of the day may need them', 2, ['later']],
  ])('stay while a result may still come, and %s', async (_, left, later) => {
    const day = await judgedDay();
    const countLeft = async () => {
      await removeOf(day);
      return Object.keys(day.server.readAll()).length;
    };
    await day.fail();
    expect(await countLeft()).toBe(2);
    for (const id of later) await addFileRun(day.ledger, id, day.run().day);
    await day.blankNames();
    expect(await countLeft()).toBe(left);
  });

  it.each<[string, string, (outcome: Awaited<ReturnType<typeof sentDay>>) => unknown]>([
    [
      'another one of that size lies there',
      'other',
      ({ server, sent }) => server.replace(remote.path, sent.toUpperCase(), now),
    ],
    [
      'a longer one lies there',
      'other',
      ({ server, sent }) => server.replace(remote.path, `${sent}and more`, now),
    ],
    ['somebody has removed it', 'absent', ({ session }) => session.remove(remote.path)],
  ])('are left alone for good where %s', async (_, outcome, change) => {
    const day = await sentDay();
    await change(day);
    const before = day.server.read(remote.path);
    await day.remove();
    expect(await day.outcomes()).toEqual([outcome, 'removed']);
    expect(day.server.read(remote.path)).toEqual(before);
    day.server.replace(remote.path, day.sent, now);
    await day.remove();
    expect(`${day.server.read(remote.path)}`).toBe(day.sent);
  });

  it.each<[string, SftpSession['remove']]>([
    ['says so', async () => 'denied'],
    ['answers with an error', denied],
  ])('are asked for once a week where the server refuses, and %s', async (_, refuse) => {
    const day = await sentDay();
    day.change({ remove: refuse });
    expect(await day.remove()).toEqual({ denied: 2, isNewlyDenied: true });
    day.change({});
    day.reach(now + weekMs - 1);
    expect(await day.remove()).toEqual({ denied: 0, isNewlyDenied: false });
    expect(await day.outcomes()).toEqual(['denied', 'denied']);
    day.reach(now + weekMs);
    await day.remove();
    expect(day.server.readAll()).toEqual({});
  });

  it('are no news when the server refuses, if it has refused those of another day that are not due again', async () => {
    const day = await sentDay();
    const earlier = await addFileRun(day.ledger);
    for (const { path } of listSent(earlier.file))
      await day.ledger.runs.noteRemoval(earlier.id, { path, outcome: 'denied', at: now });
    day.change({ remove: denied });
    expect(await day.remove()).toEqual({ denied: 2, isNewlyDenied: false });
  });

  it('are known as ours after a process that died while it removed them', async () => {
    const day = await sentDay();
    day.change({
      remove: (path) => day.session.remove(path).then(() => Promise.reject(new Error('killed'))),
    });
    await expect(day.remove()).rejects.toThrow('killed');
    day.change({});
    await day.remove();
    expect(await day.outcomes()).toEqual(['removed', 'removed']);
  });
});

function removeOf({ ledger, parts, clock }: Awaited<ReturnType<typeof judgedDay>>, before = '2026-11-22') {
  const { spool, sftp } = parts;
  const { signal } = new AbortController();
  return removeSentFiles({ ledger, spool, timezone: 'Europe/Madrid', clock, sftp }, before, signal);
}

/** A run that has succeeded, its file and its result on a server in memory. */
async function sentDay() {
  const day = await judgedDay();
  await day.archive();
  const { ledger, run } = day;
  await ledger.runs.settle(rightOf(run()), { state: 'succeeded', at: now });
  return {
    ...day,
    sent: `${day.server.read(remote.path)}`,
    remove: (before?: string) => removeOf(day, before),
    outcomes: async () =>
      ((await ledger.runs.get(run().id)).file?.removals ?? []).map(({ outcome }) => outcome),
  };
}
