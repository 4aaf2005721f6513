import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type DayFolder, day, type Settings } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay, remotePath } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { csvOf } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const old = '2023-01-02';
const oldFolder = 'VerifyMappings/012023';
/** The result came in two files. */
const oldFiles = ['02012023.csv', '02012023_2_Result.csv', '02012023_Result.csv'];
const notice = /the SFTP server refuses to remove our files \(3 files so far\)/;

/** A day by file whose run ended long ago, and one of today; the next run removes what is due. */
async function prepare(settings: Settings = {}) {
  const { folder } = await prepareFileDay(server(), {
    bookings: csvOf(2),
    settings: { file: { removeAfterDays: 400 }, guestNameDays: 30_000, recordDays: 30_000, ...settings },
    async onCall(call) {
      await call.writeResult({ affected: ['BR-2'] });
      await call.writeResult({ affected: ['BR-2'], infix: '_2' });
      return success;
    },
  });
  await folder.writeBookings(csvOf(3), old);
  expect((await folder.run(['run', '--day', old])).exitCode).toBe(0);
  const list = () => readdirSync(server().disk(oldFolder)).sort();
  expect(list()).toEqual(oldFiles);
  expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded' });
  await age(folder);
  return { folder, list };
}

/** A run of yesterday vouches for the clock. */
async function age({ ledgerFile }: DayFolder): Promise<void> {
  const { default: Libsql } = await import('libsql');
  const database = new Libsql(ledgerFile);
  database.exec(`UPDATE runs SET started_at = 0, collect_started_at = 0, collected_at = 0, finished_at = 0
    WHERE day = '${old}'`);
  database.exec(`UPDATE runs SET started_at = ${Date.now() - 86_400_000} WHERE day <> '${old}'`);
  database.close();
}

it('removes old files and results of ours from the SFTP server, and verify says so', async () => {
  const { folder, list } = await prepare();
  writeFileSync(server().disk(`${oldFolder}/03012023.csv`), 'of somebody else');
  expect((await folder.run(['doctor'])).stdout.replace(/\s+/g, ' ')).toMatch(
    /file\.removeAfterDays is 400: the next run removes the files of 1 day \(2023-01-02\)/,
  );
  expect((await folder.runDay()).exitCode).toBe(0);
  expect(list()).toEqual(['03012023.csv']);
  expect(existsSync(server().disk(remotePath))).toBe(true);
  const verified = await folder.run(['verify', old]);
  expect(verified.exitCode).toBe(0);
  expect(verified.stdout).toMatch(
    /ok {6}VerifyMappings\/012023\/02012023_Result\.csv on the SFTP server: removed by us at 20/,
  );
  const privacy = (await folder.run(['privacy', '--json'])).json;
  expect(privacy).toMatchObject({
    places: expect.arrayContaining([
      expect.objectContaining({
        place: 'SFTP server',
        count: 1,
        since: day,
        until: expect.stringContaining('400 days'),
      }),
    ]),
  });
});

it('leaves alone files that are not what was sent, even of the same size, and does not check again', async () => {
  const { folder, list } = await prepare();
  const path = server().disk(`${oldFolder}/02012023.csv`);
  writeFileSync(path, csvOf(3).replaceAll('BR-', 'XX-').padEnd(2_000).slice(0, statSync(path).size));
  expect((await folder.runDay()).exitCode).toBe(0);
  expect(list()).toEqual(['02012023.csv']);
  expect((await folder.run(['verify', old])).stdout).not.toContain(
    '02012023.csv on the SFTP server: removed',
  );
});

it('removes a file that an erasure has rewritten', async () => {
  const { folder, list } = await prepare({ hashKey: 'a key of the tests' });
  const erased = await folder.run(['guest', 'erase', 'BR-2', '--reason', 'x', '--json']);
  expect(erased).toMatchObject({ exitCode: 0, json: { left: [] } });
  await folder.runDay();
  expect(list()).toEqual([]);
});

it('reports once that a server refuses, does not fail the run, and tries again after a week', async () => {
  const { folder, list } = await prepare();
  chmodSync(server().disk(oldFolder), 0o555);
  const first = await folder.runDay();
  expect(first.exitCode).toBe(0);
  expect(first.stderr).toMatch(notice);
  expect((await folder.run(['doctor'])).stdout.replace(/\s+/g, ' ')).toMatch(
    /file\.removeAfterDays is 400: nothing is due; the server refused to remove the files of 1 day/,
  );
  expect(list()).toEqual(oldFiles);
  chmodSync(server().disk(oldFolder), 0o755);
  const second = await folder.runDay();
  expect(second.stderr).not.toMatch(/refuses to remove/);
  expect(list()).toEqual(oldFiles);
  expect((await folder.run(['verify', old])).exitCode).toBe(0);
  await ageRefusals(folder);
  expect((await folder.runDay()).exitCode).toBe(0);
  expect(list()).toEqual([]);
});

/** Backdates the recorded refusals by a week. */
async function ageRefusals({ ledgerFile }: DayFolder): Promise<void> {
  const { default: Libsql } = await import('libsql');
  const database = new Libsql(ledgerFile);
  database.exec(`UPDATE runs SET file = json_set(file,
      '$.removals[0].at', json_extract(file, '$.removals[0].at') - 604800000,
      '$.removals[1].at', json_extract(file, '$.removals[1].at') - 604800000,
      '$.removals[2].at', json_extract(file, '$.removals[2].at') - 604800000)
    WHERE day = '${old}'`);
  database.close();
}
