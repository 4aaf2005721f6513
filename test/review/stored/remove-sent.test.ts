import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { removeSentFiles } from '../../../src/review/stored/remove-sent.js';
import { SftpError, type SftpSession } from '../../../src/transports/sftp/sftp.js';
import { rightOf } from '../../contracts/ledger/days.js';
import { createOutside } from '../../crash/outside.js';
import { createSftpDouble } from '../../crash/sftp-double.js';
import { now, prepareFileRun, remote } from '../file/file-run.js';

const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
const [sent, judged] = ['the file as sent\n', 'its result\n'];
const resultPath = `${remote.folder}/20112026_Result.csv`;
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

  it.each<[string, string, (outcome: Awaited<ReturnType<typeof sentDay>>) => unknown]>([
    [
      'another one of that size lies there',
      'other',
      ({ server }) => server.replace(remote.path, sent.toUpperCase(), now),
    ],
    ['a longer one lies there', 'other', ({ server }) => server.replace(remote.path, `${sent}and more`, now)],
    ['somebody has removed it', 'absent', ({ session }) => session.remove(remote.path)],
  ])('are left alone for good where %s', async (_, outcome, change) => {
    const day = await sentDay();
    await change(day);
    const before = day.server.read(remote.path);
    await day.remove();
    expect(await day.outcomes()).toEqual([outcome, 'removed']);
    expect(day.server.read(remote.path)).toEqual(before);
    day.server.replace(remote.path, sent, now);
    await day.remove();
    expect(`${day.server.read(remote.path)}`).toBe(sent);
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

/** A run that has succeeded, its file and its result on a server in memory. */
async function sentDay() {
  const { ledger, parts, run, finish } = await prepareFileRun();
  const outside = createOutside(now);
  const server = createSftpDouble(outside);
  const of = (content: string) => ({
    size: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  });
  const { size: bytes, sha256 } = of(sent);
  await finish('write', { rows: 5, bytes, sha256 });
  await finish('upload', { remotePath: remote.path });
  await finish('trigger', { triggeredAt: now });
  await finish('await-result', {
    result: { name: '20112026_Result.csv', ...of(judged), rows: 5, isWhole: true },
  });
  await finish('archive', { archivedTo: '/archive' });
  await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: now });
  server.put(remote.path, sent);
  server.put(resultPath, judged);
  const { signal } = new AbortController();
  const session = await server.connect({ signal });
  let changed: Partial<SftpSession> = {};
  const timezone = 'Europe/Madrid';
  return {
    ...{ server, session, reach: outside.reach },
    change(changes: Partial<SftpSession>) {
      changed = changes;
    },
    remove: (before = '2026-11-22') =>
      removeSentFiles(
        {
          ...{ ledger, spool: parts.spool, timezone, clock: outside.clock },
          sftp: { connect: async () => ({ ...session, ...changed }) },
        },
        before,
        signal,
      ),
    outcomes: async () =>
      ((await ledger.runs.get(run.id)).file?.removals ?? []).map(({ outcome }) => outcome),
  };
}
