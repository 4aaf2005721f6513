import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { hashCells } from '../../../src/booking/record-cells.js';
import type { Reject } from '../../../src/ledger/rejects.js';
import { defaultResultPattern, locateRemoteFiles } from '../../../src/review/file/remote-files.js';
import { eraseGuest } from '../../../src/review/guests/erase-guest.js';
import { findBookingsOf, findGuest } from '../../../src/review/guests/guest.js';
import { createDirectoryArchive } from '../../../src/storage/archive.js';
import { createDirectorySpool } from '../../../src/storage/spool.js';
import { SftpError, type SftpServer, type SftpSession } from '../../../src/transports/sftp/sftp.js';
import { at, chunkOf, done, newRun, perform, rightOf, startCollect } from '../../contracts/ledger/days.js';
import { createOutside } from '../../crash/outside.js';
import { createSftpDouble } from '../../crash/sftp-double.js';
import { collectBookings, deliverBookings, someBooking, toChunk } from '../../desk/some-bookings.js';
import { addFileRun } from '../../desk/some-file-run.js';
import { findText } from '../../support/found-text.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

const unstopped = new AbortController().signal;
const [day, timezone] = ['2026-11-20', 'Europe/Madrid'];
const others = { bookingReferenceId: 'BR-2', bookingClientName: 'Eva Roth' };

async function prepare() {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const ledger = await openTemporaryLedger(() => at, { hashKey: 'a key of the tests' });
  const archive = createDirectoryArchive({ root: join(folder, 'archive'), account: 'an-account' });
  const spool = createDirectorySpool({ root: join(folder, 'spool') });

  async function erase(
    reference: string,
    {
      all = false,
      dryRun = false,
      sftp,
      resultPattern = defaultResultPattern,
    }: { all?: boolean; dryRun?: boolean; sftp?: SftpServer; resultPattern?: string } = {},
  ) {
    const guest = await findGuest(ledger, reference);
    const parts = { ledger, archive, spool, sftp, timezone, dryRun };
    const { erased, left } = await eraseGuest(
      { ...parts, resultPattern, signal: unstopped },
      { guest, all, at },
    );
    return { erased: erased.map(({ place, name }) => `${place}: ${name}`), left };
  }

  const keep = (runId: string, name: string, text: string) => archive.store(day, runId, name, toAsync(text));
  return { folder, ledger, archive, spool, erase, keep };
}

async function* toAsync(text: string): AsyncGenerator<Buffer, void, undefined> {
  yield Buffer.from(text);
}

const answering = (answer: string) => ({ ...done, evidence: { ...done.evidence, answer } });
const says = { withNames: 'for GIL, Ana', withReference: 'no hotel of BR-1', without: 'fine' };

describe('An erased guest', () => {
  it('is in no answer of the service about anybody of the day', async () => {
    const { ledger, erase } = await prepare();
    await deliverBookings(ledger, 'r1', [someBooking()]);
    for (const [id, answer] of [
      ['r2', says.withNames],
      ['r3', says.without],
      ['r4', says.withReference],
    ] as const) {
      const run = await collectBookings(ledger, id, [someBooking(others)]);
      await perform(ledger, run, 'batch 0', answering(answer));
      await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
    }
    const answersOf = async (id: string) => (await ledger.steps.listAnswered(id)).map(({ answer }) => answer);
    await erase('BR-1', { dryRun: true });
    expect(await answersOf('r2')).toEqual([says.withNames]);
    expect((await erase('BR-1')).erased).toEqual([
      'ledger: the answer to attempt 1 of batch 0',
      'ledger: posted batch 0',
    ]);
    const rest = async () => [await answersOf('r2'), await answersOf('r3'), await answersOf('r4')];
    expect(await rest()).toEqual([[], [says.without], [says.withReference]]);
    await erase('BR-1', { all: true });
    expect(await rest()).toEqual([[], [says.without], []]);
  });

  it('loses only the name, or with everything the reference and the stay, too; others lose nothing', async () => {
    const { ledger, erase } = await prepare();
    await deliverBookings(ledger, 'r1', [someBooking(), someBooking(others)]);
    const read = async () => (await ledger.bookings.readBatch('r1', 'posted', 0)).toString();
    await erase('BR-1');
    expect(await read()).not.toContain('Ana Gil');
    expect(await read()).toMatch(/BR-1,.*,25112026,.*\n.*Eva Roth/);
    expect((await erase('BR-1')).erased).toEqual([]);
    await erase('BR-1', { all: true });
    expect(await read()).toBe('7,,,hotelbeds,007,,\n7,BR-2,Eva Roth,hotelbeds,007,25112026,27112026\n');
    expect(await ledger.bookings.trace('BR-1')).toEqual([]);
  });

  it('is in no rejected record, whichever of its cells held the name or the reference', async () => {
    const { ledger, erase } = await prepare();
    await deliverBookings(ledger, 'r1', [someBooking()]);
    const reject = (place: number, held: Partial<Reject>): Reject => ({
      ...{ place, reason: 'service-id-invalid', field: 'ServiceId', ...held },
    });
    const run = await ledger.runs.create(newRun('r2'));
    const collect = await startCollect(ledger, run);
    const rejects = [
      reject(1, { reference: 'BR-1', value: 'x' }),
      reject(2, { reference: 'Gil, Ana', value: '7' }),
      reject(3, { value: 'ANA GIL' }),
      reject(4, { reference: 'Bedlink', value: 'y', cells: hashCells(['7', 'BR-1']) }),
      reject(5, { reference: 'BR-2', value: 'Eva Roth' }),
    ];
    await collect.store(chunkOf({ rejects }));
    await collect.finish({ steps: [], at });
    await ledger.runs.settle(rightOf(run), { state: 'failed', at });
    expect((await findBookingsOf(ledger, ' ana gil', unstopped)).unreferenced).toBe(1);
    const would = await erase('BR-1', { dryRun: true });
    expect(await erase('BR-1')).toEqual({ ...would, left: [] });
    expect((await ledger.rejects.listHeld('r2')).map(({ place }) => place)).toEqual([5]);
    // Nor is one found by it. The guest's own reference still finds theirs.
    const findPlaces = async (text: string) =>
      (await ledger.bookings.trace(text)).flatMap((one) => (one.kind === 'reject' ? [one.place] : []));
    expect(await Promise.all(['BR-1', 'Gil, Ana', 'Bedlink', 'BR-2'].map(findPlaces))).toEqual([
      ...[[1], [], [], [5]],
    ]);
    await erase('BR-1', { all: true });
    expect(await findPlaces('BR-1')).toEqual([]);
  });

  it('is found and blanked by a reference and a name with quotes, which cells double', async () => {
    const { ledger, erase } = await prepare();
    const quoted = { bookingReferenceId: 'BR-"1"', bookingClientName: 'Ana "Nita" Gil' };
    await deliverBookings(ledger, 'r1', [someBooking(others), someBooking(quoted)]);
    const found = () => findBookingsOf(ledger, 'ana "nita" gil', unstopped);
    expect(await found()).toEqual({ references: new Set(['BR-"1"']), unreferenced: 0 });
    await erase('BR-"1"');
    expect((await found()).references.size).toBe(0);
  });

  it('stays in a run that may still send them, and on a day that somebody works on, and the receipt says so', async () => {
    const { ledger, erase } = await prepare();
    const run = await collectBookings(ledger, 'r1', [someBooking()]);
    const why = async (options = {}) => (await erase('BR-1', options)).left.map((one) => one.why);
    const unfinished = [expect.stringMatching(/`run 2026-11-20`.*`cancel 2026-11-20`/)];
    expect([await why(), await why({ dryRun: true })]).toEqual([unfinished, unfinished]);
    await ledger.runs.settle(rightOf(run), { state: 'cancelled', at });
    const hold = await ledger.holds.day(day);
    expect(await why()).toEqual([expect.stringContaining('is being worked on')]);
    await hold?.release();
    expect(await why()).toEqual([]);
    expect((await findGuest(ledger, 'BR-1')).names.size).toBe(0);
  });

  it('is in no run whose collect did not end, once that was given up, even if no other run has them', async () => {
    const { ledger, erase } = await prepare();
    const run = await ledger.runs.create(newRun('r1'));
    const collect = await startCollect(ledger, run);
    await collect.store(toChunk([someBooking(others), someBooking()]));
    const newest = async () => (await erase('BR-1')).left.map(({ why }) => why);
    expect(await newest()).toEqual([expect.stringMatching(/`cancel 2026-11-20`/)]);
    await ledger.runs.settle(rightOf(run), { state: 'cancelled', at });
    expect(await erase('BR-1')).toEqual({ erased: ['ledger: posted batch 0'], left: [] });
    const lines = (await ledger.bookings.readBatch('r1', 'posted', 0)).toString();
    expect(lines).toMatch(/Eva Roth.*\n7,BR-1,,/);
    expect((await findGuest(ledger, 'BR-1')).traces).toMatchObject([{ position: 1, run: { id: 'r1' } }]);
  });

  it('takes the files of runs that the ledger does not know along, and names those that are nobody’s', async () => {
    const { folder, ledger, archive, spool, erase, keep } = await prepare();
    await deliverBookings(ledger, 'r1', [someBooking()]);
    const text = 'BookingReferenceId,BookingClientName\nBR-1,Ana Gil\n';
    await keep('lost', 'sent.csv', text);
    await keep('of-others', 'sent.csv', text.replace('BR-1,Ana Gil', 'BR-2,Eva Roth'));
    const unmarked = join(folder, 'archive', day, 'unmarked');
    await mkdir(unmarked);
    await writeFile(join(unmarked, 'sent.csv'), text);
    await spool.write('lost.csv', toAsync(text));
    await keep('sealed', 'sent.csv', '\0hotel-review sealed 1\n');
    const would = await erase('BR-1', { dryRun: true });
    const { erased, left } = await erase('BR-1');
    expect(would).toEqual({ erased, left });
    expect(erased).toEqual(['ledger: posted batch 0', 'archive: sent.csv', 'spool: lost.csv']);
    expect(left).toMatchObject([
      { runId: 'sealed', place: 'archive', why: expect.stringMatching(/^sent.csv cannot be read/) },
      { runId: 'unmarked', place: 'archive', why: expect.stringMatching(/no mark/) },
    ]);
    expect(findText(folder, 'Ana Gil')).toEqual([join(unmarked, 'sent.csv')]);
    expect(await archive.list(day, 'of-others')).toEqual(['sent.csv']);
  });

  it('is in the files on the server as before when it was only asked what would go, and these are not noted as gone', async () => {
    const { ledger, erase } = await prepare();
    const run = await addFileRun(ledger);
    const double = createSftpDouble(createOutside(at));
    const { path } = locateRemoteFiles(createBusinessDay(run.day, timezone));
    double.put(path, 'BookingReferenceId,BookingClientName\nF-1,Ana Gil\n');
    expect((await erase('F-1', { dryRun: true, sftp: double })).erased).toContain(`sftp: ${path}`);
    expect(Object.keys(double.readAll())).toEqual([path]);
    expect(await ledger.runs.get(run.id)).toEqual(run);
  });

  it('is in no result on the server, whatever the service calls it', async () => {
    const { ledger, erase } = await prepare();
    await addFileRun(ledger);
    const double = createSftpDouble(createOutside(at));
    const path = 'VerifyMappings/112026/answer-2026-11-19.csv';
    double.put(path, 'BookingReferenceId,BookingClientName\nF-1,Ana Gil\n');
    await erase('F-1', { sftp: double, resultPattern: 'answer-{day}.csv' });
    expect(double.readAll()).toEqual({});
  });

  it('stays on a server that is away or denies it, until it is asked again', async () => {
    const { ledger, erase } = await prepare();
    const { day: fileDay } = await addFileRun(ledger);
    const double = createSftpDouble(createOutside(at));
    const { path } = locateRemoteFiles(createBusinessDay(fileDay, timezone));
    double.put(path, 'BookingReferenceId,BookingClientName\nF-1,Ana Gil\n');
    const connect = async (changes: Partial<SftpSession>) => ({
      ...(await double.connect({ signal: unstopped })),
      ...changes,
    });
    const away: SftpServer = {
      connect: () => Promise.reject(new SftpError('retryable', 'unreachable', 'the server is away')),
    };
    const denying: SftpServer = { connect: () => connect({ remove: async () => 'denied' }) };
    const why = async (sftp: SftpServer) => (await erase('F-1', { sftp })).left.map((one) => one.why);
    expect(await why(away)).toEqual(['the server is away']);
    expect(await why(denying)).toEqual([expect.stringContaining(`${path}: the server denies it`)]);
    expect(Object.keys(double.readAll())).toEqual([path]);
    expect(await why(double)).toEqual([]);
    expect(double.readAll()).toEqual({});
  });
});
