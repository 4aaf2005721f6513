import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { createExportFolder } from '../setup/export-folder.js';
import { callCommand } from '../support/command.js';
import { prepareDay } from '../support/day-folder.js';
import { bookingsHeader, day, makeBookings } from '../support/made-bookings.js';
import { isAvailable, needs, runAtTerminal, type Typing } from '../support/pseudo-terminal.js';
import { useMariadb, usePostgres } from '../support/use-servers.js';

const command = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));
const spaced = (text: string) => text.replaceAll(/\s+/g, ' ');

/** Of 420 bookings, 60 are cancelled and 25 pending. */
const statusOf = (at: number) => (at % 7 === 3 ? 'CANC' : at % 17 === 5 && at % 7 !== 3 ? 'PEND' : 'CONF');
const rows = makeBookings(420).map((booking, at) => [...Object.values(booking), statusOf(at)]);
const count = (status: string) => rows.filter((row) => row.at(-1) === status).length;
const [canc, pend, conf] = [count('CANC'), count('PEND'), count('CONF')];
const csv = `${[`${bookingsHeader},Status`, ...rows.map((row) => row.join(','))].join('\n')}\n`;
const counted = (column: string) =>
  `${canc + pend} of the first 420 records look cancelled or not confirmed by the column "${column}", which nothing uses: "CONF" ${conf}, "CANC" ${canc}, "PEND" ${pend}`;
const offered = (column: string) => `source.where: { ${column}: { not: [ CANC, PEND ] } }`;
const where = { Status: { not: ['CANC', 'PEND'] } };

describe('a column by which bookings are cancelled', () => {
  it('is a warning of doctor, until source.where or source.keep names it', async () => {
    const { folder } = await prepareDay({ bookings: csv });
    const warned = async () => {
      const { json } = await folder.run(['doctor', '--day', day, '--json']);
      const { findings } = json as {
        findings: { part: string; verdict: string; message: string; advice?: string }[];
      };
      return findings.filter(({ message }) => message.includes('look cancelled'));
    };
    expect(await warned()).toEqual([
      {
        part: 'source',
        verdict: 'warning',
        message: counted('Status'),
        advice: expect.stringContaining(offered('Status')),
      },
    ]);
    await folder.configure({ source: { where: { ProviderName: ['Expedia'] } } });
    expect(await warned()).toMatchObject([
      {
        message: expect.stringContaining('of the first 210 records'),
        advice: expect.stringContaining('{ ProviderName: [ Expedia ], Status: { not: [ CANC, PEND ] } }'),
      },
    ]);
    await folder.configure({ source: { where } });
    expect(await warned()).toEqual([]);
    await folder.configure({ source: { keep: { State: 'Status' } } });
    expect(await warned()).toEqual([]);
  });

  it('is in a dry run, and with source.where its bookings are not sent', async () => {
    const { folder } = await prepareDay({ bookings: csv });
    const said = await folder.run(['run', '--day', day, '--dry-run']);
    expect(spaced(said.stdout)).toContain(
      `unconfirmed bookings: ${counted('Status')} They would be sent to the service.`,
    );
    expect(spaced(said.stdout)).toContain(offered('Status'));
    const dry = await folder.run(['run', '--day', day, '--dry-run', '--json']);
    expect(dry.json).toMatchObject({ counts: { accepted: 420 }, unconfirmed: { where } });

    await folder.configure({ source: { where } });
    const filtered = await folder.run(['run', '--day', day, '--dry-run', '--json']);
    expect(filtered.json).toMatchObject({ counts: { accepted: conf, filtered: canc + pend } });
    expect(filtered.json).not.toHaveProperty('unconfirmed');
  });

  it('is a warning of init where nobody is asked, and the configuration has the filter as a comment', async () => {
    const folder = await createExportFolder({ [`exports/bookings-${day}.csv`]: csv });
    const env = { PATH: process.env.PATH, TZ: 'Europe/Madrid' };
    const { json } = await callCommand(['init', '--yes', '--json'], { cwd: folder, env }).ended;
    expect(json).toMatchObject({
      source: expect.arrayContaining([
        expect.objectContaining({ verdict: 'warning', message: counted('Status') }),
      ]),
    });
    const text = await readFile(join(folder, 'hotel-review.yaml'), 'utf8');
    expect(text).toContain('\n  # where: { Status: { not: [ CANC, PEND ] } }\n');
    expect(text.replaceAll(/\n +#/g, '')).toContain(counted('Status'));
  });
});

describe.skipIf(!isAvailable)(`init at a terminal (needs ${needs})`, () => {
  it.each([
    ['leaves out cancelled bookings unless told otherwise', '\r', where],
    ['keeps them if told so', '2\r', {}],
  ])('%s', async (_, typed, filter) => {
    const folder = await createExportFolder({ [`exports/bookings-${day}.csv`]: csv });
    const enter = (after: string): Typing => ({ after, type: '\r' });
    const typing = [{ after: 'cancelled or unconfirmed', type: typed }, enter('usual day')];
    const options = ['--timezone', 'Europe/Madrid', '--kind', 'csv', '--delivery', 'body'];
    const { screen, exitCode } = await runAtTerminal(
      [
        command,
        'init',
        ...options,
        '--path',
        'exports/bookings-{day}.csv',
        '--base-url',
        'https://maps.test/api/3.0',
      ],
      typing,
      { cwd: folder, env: { PATH: process.env.PATH } },
    );
    expect({ exitCode, screen }).toEqual({ exitCode: 0, screen: expect.stringContaining(`"CANC" ${canc}`) });
    const { source } = await loadConfig({ file: join(folder, 'hotel-review.yaml'), env: {} });
    expect(source.where).toEqual(filter);
  });
});

const columns = bookingsHeader.split(',');
const table = `CREATE TABLE bookings (${[...columns, 'Status'].map((column) => `${column} varchar(40)`).join(', ')})`;
const insert = `INSERT INTO bookings VALUES ${rows
  .map((row) => `(${row.map((cell) => `'${cell}'`).join(', ')})`)
  .join(', ')}`;

/** Any day has the bookings. */
async function expectNoticed(url: string, column: string) {
  const query = "SELECT * FROM bookings WHERE :day <> ''";
  const { folder } = await prepareDay({ settings: { source: { kind: 'sql', url, query, path: undefined } } });
  const doctor = await folder.run(['doctor', '--day', day]);
  expect(spaced(doctor.stdout + doctor.stderr)).toContain(counted(column));
  const dry = await folder.run(['run', '--day', day, '--dry-run', '--json']);
  expect(dry.json).toMatchObject({
    counts: { accepted: 420 },
    unconfirmed: { columns: [{ unconfirmed: canc + pend, records: 420 }], where: { [column]: where.Status } },
  });
}

describe('the same column of a query', () => {
  const postgres = usePostgres();
  const mariadb = useMariadb();

  it('of PostgreSQL is noticed', async () => {
    const url = postgres().overTcp(await postgres().createDatabase());
    await postgres().query(url, `${table}; ${insert}`);
    await expectNoticed(url, 'status');
  });

  it('of MariaDB is noticed', async () => {
    const url = await mariadb().createDatabase();
    await mariadb().query(url, table);
    await mariadb().query(url, insert);
    await expectNoticed(url, 'Status');
  });
});
