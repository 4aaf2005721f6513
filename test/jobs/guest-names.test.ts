import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPseudonyms } from '../../src/review/guest-names.js';
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
  booking.BookingReferenceId === 'BR-2' ? { ...booking, BookingClientName: canary } : booking,
);
const anyName = /Guest \d|Quetzal/;

function prepare(settings: Settings, source = toCsv(bookings)) {
  return prepareFileDay(server(), {
    bookings: source,
    settings: { hashKey, ...settings },
    onPost: () => success,
    async onCall(call) {
      await call.writeResult({ affected: ['BR-2'] });
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

describe('guestNames: pseudonym', () => {
  it('sends and keeps a pseudonym by file, gets verdicts, and finds the guest by name', async () => {
    const { folder, server: sftp } = await prepare({ guestNames: 'pseudonym' });
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
    const sent = await readFile(sftp.disk(remotePath), 'utf8');
    const pseudonym = createPseudonyms(hashKey)(canary);
    expect(sent).toContain(`,BR-2,${pseudonym},`);
    expect(sent).not.toMatch(anyName);
    expect(await findNames(folder)).toEqual([]);
    for (const who of [['BR-2'], ['--name', ' cañária QUETZAL'], ['--name', pseudonym]]) {
      const shown = await folder.run(['show', ...who, '--json']);
      expect(shown).toMatchObject({ exitCode: 0, json: { bookings: [{ verdict: 'incorrect', day }] } });
    }
    expect((await folder.run(['show', '--name', 'Cañária'])).exitCode).toBe(1);
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
    const erased = await folder.run(['guest', 'erase', '--name', canary, '--reason', 'x', '--json']);
    expect(erased).toMatchObject({ exitCode: 0, json: { left: [] } });
    expect(await readFile(sftp.disk(remotePath), 'utf8')).not.toContain(pseudonym);
    expect((await folder.run(['show', '--name', canary])).exitCode).toBe(1);
  });

  it('lets a booking of a guest called Null go into the file, and posts one without a name as before', async () => {
    const rows = bookings.map((booking, at) => ({
      ...booking,
      ...(at === 0 && { BookingClientName: 'Null' }),
      ...(at === 1 && { BookingClientName: '' }),
    }));
    const { folder, standIn } = await prepare({ guestNames: 'pseudonym' }, toCsv(rows));
    const counts = { accepted: 6, posted: 1 };
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts });
    expect(standIn.accepted()).toMatchObject([{ BookingReferenceId: 'BR-2' }]);
  });

  it('needs hashKey, with exit 2', async () => {
    const { folder } = await prepare({ guestNames: 'pseudonym', hashKey: undefined });
    expectError(await folder.runDay(), { exitCode: 2, class: 'configuration', message: /hashKey: / });
  });
});

describe('guestNames: omit', () => {
  it('sends and keeps no name by body, even for a large day, and no value of rejected records', async () => {
    const many = toCsv([...bookings, ...makeBookings(45_000, { first: 10 })]);
    const broken = toCsv(bookings.slice(0, 1)).split('\n')[1]?.replace(/^\d+/, canary);
    const settings = { guestNames: 'omit', delivery: 'body' };
    const { folder, standIn } = await prepare(settings, `${many}${broken}\n`);
    const counts = { accepted: 45_006, rejected: 1 };
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts });
    expect(standIn.accepted()).toHaveLength(45_006);
    expect(standIn.accepted().filter((sent) => 'BookingClientName' in sent)).toEqual([]);
    expect(await findNames(folder)).toEqual([]);
    const late = await folder.run(['replay', day, '--late', '--json']);
    expect(late).toMatchObject({ exitCode: 0, json: { counts: { accepted: 0, duplicates: 45_006 } } });
  });

  it('is refused by file, before anything is sent, unless the file may have empty cells', async () => {
    const { folder, standIn, server: sftp } = await prepare({ guestNames: 'omit' });
    const refusal = {
      exitCode: 2,
      class: 'configuration',
      message: /guestNames: omit leaves a cell/,
    } as const;
    expectError(await folder.runDay(), refusal);
    await folder.configure({ delivery: 'body' });
    expectError(await folder.run(['run', '--day', day, '--delivery', 'file', '--json']), refusal);
    expect(standIn.requests).toEqual([]);
    await folder.configure({ delivery: 'file', file: { incomplete: 'leave-empty' } });
    expectReport(await folder.runDay(), {
      exitCode: 0,
      state: 'succeeded',
      counts: { posted: 0, affected: 1 },
    });
    expect(await readFile(sftp.disk(remotePath), 'utf8')).toContain(',BR-2,,');
    expect(await findNames(folder)).toEqual([]);
  });

  it('never sends names later from a run that was collected with them', async () => {
    const { folder, standIn } = await prepare({ delivery: 'body' });
    await folder.configure({ service: { baseUrl: 'http://127.0.0.1:1' } });
    expect((await folder.runDay()).exitCode).toBe(1);
    await folder.configure({ guestNames: 'omit', service: { baseUrl: standIn.baseUrl } });
    const message = /was collected with guestNames: send, and resuming it would send more of the names/;
    expectError(await folder.runDay(), { exitCode: 2, class: 'usage', message });
    const again = await folder.run(['replay', day, '--reason', 'without names', '--json']);
    expectReport(again, { exitCode: 0, state: 'succeeded' });
    expect(JSON.stringify(standIn.accepted())).not.toMatch(anyName);
  });
});
