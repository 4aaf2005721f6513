import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { day, type Settings } from '../support/day-folder.js';
import { expectError, expectReport } from '../support/expectations.js';
import { prepareFileDay, remotePath } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const hashKey = 'a key of the tests';
const canary = 'Cañária Quetzal';
const bookings = makeBookings(6).map((booking) =>
  booking.BookingReferenceId === 'BR-3' ? { ...booking, BookingClientName: canary } : booking,
);
const anyName = /Guest \d|Quetzal/;

function prepare(settings: Settings, source = toCsv(bookings)) {
  return prepareFileDay(server(), {
    bookings: source,
    settings: { hashKey, ...settings },
    onPost: () => success,
    async onCall(call) {
      await call.writeResult({ affected: ['BR-3'] });
      return success;
    },
  });
}

/** The files below the folder that hold a guest's name, besides the source. */
async function findNames(folder: {
  readonly path: string;
  readonly bookingsFile: string;
}): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder.path, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || path === folder.bookingsFile) continue;
    const text = await readFile(path, 'utf8').catch(() => '');
    if (anyName.test(text)) found.push(path);
  }
  return found;
}

describe('guestNames: omit', () => {
  it('sends and keeps no name by body, even for a large day, and no value of rejected records', async () => {
    const many = toCsv([...bookings, ...makeBookings(45_000, { first: 10 })]);
    const whole = toCsv(bookings.slice(0, 1)).split('\n')[1];
    const broken = `${whole?.replace(/^\d+/, canary)}\nBR-90,${canary},x,y,z,2026-12-01,`;
    const settings = { guestNames: 'omit', delivery: 'body' };
    const { folder, standIn } = await prepare(settings, `${many}${broken}\n`);
    const counts = { accepted: 45_006, rejected: 2 };
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts });
    expect(standIn.accepted()).toHaveLength(45_006);
    expect(standIn.accepted().filter((sent) => 'BookingClientName' in sent)).toEqual([]);
    expect(await findNames(folder)).toEqual([]);
    // Of a rejected record there is the hash of its reference.
    const shown = await folder.run(['show', 'BR-1', '--json']);
    expect(shown.json).toMatchObject({ bookings: [{ state: 'delivered' }, { state: 'rejected' }] });
    const late = await folder.run(['replay', day, '--late', '--json']);
    expect(late).toMatchObject({ exitCode: 0, json: { counts: { accepted: 0, duplicates: 45_006 } } });
  });

  it('by file sends the reference in the place of the name, and treats it as no name', async () => {
    const rows = bookings.map((booking, at) => ({
      ...booking,
      ...(at === 0 && { BookingClientName: 'Null' }),
      ...(at === 1 && { BookingReferenceId: '' }),
      ...(at === 3 && { BookingClientName: '' }),
    }));
    const { folder, standIn, server: sftp } = await prepare({ guestNames: 'omit' }, toCsv(rows));
    const counts = { accepted: 6, posted: 1, affected: 1 };
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts });
    // A booking without a reference has nothing that could stand there.
    expect(standIn.accepted()).toHaveLength(1);
    expect(standIn.accepted()[0]).not.toHaveProperty('BookingClientName');
    const sent = await readFile(sftp.disk(remotePath), 'utf8');
    for (const reference of ['BR-1', 'BR-3', 'BR-4', 'BR-5', 'BR-6'])
      expect(sent).toContain(`,${reference},${reference},`);
    expect(await findNames(folder)).toEqual([]);
    const shown = await folder.run(['show', 'BR-3', '--json']);
    expect(shown).toMatchObject({ exitCode: 0, json: { bookings: [{ verdict: 'incorrect', day }] } });
    expect(shown.stdout).not.toContain('BookingClientName');
    expect((await folder.run(['show', '--name', 'BR-3'])).exitCode).toBe(1);
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
    expect((await folder.run(['evidence', 'BR-3', '--out', 'evidence.zip'])).exitCode).toBe(0);
    const late = await folder.run(['replay', day, '--late', '--json']);
    expect(late).toMatchObject({ exitCode: 0, json: { counts: { accepted: 0, duplicates: 6 } } });
    const erased = await folder.run(['guest', 'erase', 'BR-3', '--all', '--reason', 'x', '--json']);
    expect(erased).toMatchObject({ exitCode: 0, json: { left: [] } });
    await expect(readFile(sftp.disk(remotePath))).rejects.toThrow('ENOENT');
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
  });

  it('never sends names later from a run that was collected with them', async () => {
    const { folder, standIn } = await prepare({ delivery: 'body' });
    await folder.configure({ service: { baseUrl: 'http://127.0.0.1:1' } });
    expect((await folder.runDay()).exitCode).toBe(1);
    await folder.configure({ guestNames: 'omit', service: { baseUrl: standIn.baseUrl } });
    const message =
      /was collected with guestNames: send, and resuming it would send the names that guestNames: omit leaves out/;
    expectError(await folder.runDay(), { exitCode: 2, class: 'usage', message });
    const again = await folder.run(['replay', day, '--reason', 'without names', '--json']);
    expectReport(again, { exitCode: 0, state: 'succeeded' });
    expect(JSON.stringify(standIn.accepted())).not.toMatch(anyName);
  });
});
