import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rules } from '../../jobs/rules.js';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { day } from '../support/day-folder.js';
import { prepareFileDay } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { listFiles } from '../support/leaks.js';
import { makeBookings, stayToCome, toCsv } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const guest = 'Canaria Zwitscherfink';
const bookings = makeBookings(3, stayToCome()).map((booking) => ({ ...booking, BookingClientName: guest }));

interface Place {
  readonly place: string;
  readonly location: string;
  readonly categories: readonly string[];
  readonly count: number | null;
  readonly since: string | null;
  readonly until: string;
}

const placesOf = (json: unknown) => (json as { readonly places: readonly Place[] }).places;

it('privacy says what is kept where since when, and every file with a name on disk is in one of its places', async () => {
  const { folder } = await prepareFileDay(server(), {
    bookings: toCsv(bookings),
    settings: { guestNameDays: 45, recordDays: 400 },
    async onCall(call) {
      await call.writeResult({ affected: ['BR-2'] });
      return success;
    },
  });
  const before = await folder.run(['privacy', '--json']);
  expect(before.exitCode).toBe(0);
  for (const { count, since } of placesOf(before.json)) expect([count, since]).toEqual([0, null]);
  await folder.configure({ guestNameDays: 45, recordDays: 400, delivery: 'body' });
  const byBody = await folder.run(['privacy', '--json']);
  expect(JSON.stringify(byBody.json)).not.toContain('SFTP server');
  await folder.configure({ guestNameDays: 45, recordDays: 400 });

  expect((await folder.runDay()).exitCode).toBe(0);
  const csv = join(folder.path, 'affected.csv');
  await folder.run(['affected', day, '--csv', csv]);
  const html = join(folder.path, 'day.html');
  await folder.run(['report', day, '--html', html]);
  await recordDownload(folder.ledgerFile);
  const { json, exitCode } = await folder.run(['privacy', '--json']);
  expect(exitCode).toBe(0);
  const places = placesOf(json);
  const today = new Date().toISOString().slice(0, 10);
  expect(places.map(({ place, categories, count, since }) => ({ place, categories, count, since }))).toEqual([
    { place: 'ledger', categories: ['guest-names', 'service-messages'], count: 3, since: day },
    { place: 'ledger', categories: ['bookings'], count: 3, since: day },
    { place: 'cases', categories: ['users', 'bookings'], count: 1, since: day },
    { place: 'verdict e-mails that were read', categories: ['bookings'], count: 0, since: null },
    { place: 'audit trail', categories: ['users', 'bookings'], count: 5, since: today },
    { place: 'erased guests', categories: ['erased-guests'], count: 0, since: null },
    { place: 'archive', categories: ['guest-names', 'bookings'], count: 2, since: day },
    { place: 'spool', categories: ['guest-names', 'bookings'], count: 0, since: null },
    { place: 'SFTP server', categories: ['guest-names', 'bookings'], count: 1, since: day },
  ]);
  expect(places[0]?.until).toContain('45 days');
  expect(places[1]?.until).toContain('400 days');
  expect(json).toMatchObject({
    recipients: [{ recipient: 'mapping service' }, { recipient: 'SFTP server' }],
    writtenFiles: [{ path: csv }, { path: html }],
  });

  const named = listFiles(join(folder.path, 'data')).filter((path) => readFileSync(path).includes(guest));
  expect(named.length).toBeGreaterThanOrEqual(3);
  const allowed = places.flatMap(({ location, categories, count }) =>
    count !== 0 && categories.includes('guest-names') ? [location] : [],
  );
  for (const path of named) expect(allowed.filter((location) => path.startsWith(location))).not.toEqual([]);

  const { rights } = json as { readonly rights: readonly { readonly command: string }[] };
  expect(rights.length).toBeGreaterThan(4);
  for (const { command } of rights) {
    const words = command.split(/ (?=[A-Z-])/)[0]?.split(' ') ?? [];
    const help = (await folder.run([...words, '--help'])).stdout;
    expect(help).toContain(`Usage: hotel-review ${words.join(' ')} `);
  }

  const { stdout } = await folder.run(['privacy']);
  expect(stdout).toContain(
    `  ledger: ${folder.ledgerFile}\n      guest-names, service-messages: 3 bookings, since ${day}\n`,
  );
  expect(stdout).toContain('guest export REFERENCE');
});

/** A download of the desk is no file on this machine. */
async function recordDownload(path: string): Promise<void> {
  const ledger = createSqliteLedger({ path, rules, clock: Date.now });
  const action = { action: 'cases', details: { found: 1, csv: true } } as const;
  await ledger.audit.record({ ...action, who: 'bea (desk)', at: Date.now() });
  await ledger.close();
}

it('privacy distinguishes an unreadable archive from an empty one', async () => {
  const { folder } = await prepareFileDay(server(), {
    bookings: toCsv(bookings),
    settings: { archive: './data/ledger.db/archive' },
    async onCall(call) {
      await call.writeResult({ affected: [] });
      return success;
    },
  });
  await folder.runDay();
  const { json, stderr, exitCode } = await folder.run(['privacy', '--json']);
  expect(exitCode).toBe(0);
  expect(placesOf(json).find(({ place }) => place === 'archive')?.count).toBeNull();
  expect(stderr).toContain('could not be checked');
});
