import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { apiKey, day, prepareDay } from '../support/day-folder.js';
import { prepareFileDay } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { bookingsHeader, makeBookings, toCsv } from '../support/made-bookings.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(sandboxSftp);
/** Every guest of these days. The check of each test's folder finds it wherever it must not be. */
const guest = 'Canaria Zwitscherfink';
const csv = toCsv(makeBookings(60).map((booking) => ({ ...booking, BookingClientName: guest })));
/** The most verbose log level. */
const traced = ['--log-level', 'trace', '--stack-trace'];

const brokenSources: readonly (string | Buffer)[] = [
  csv.replace(`BR-9,${guest}`, `BR-9,"${guest}`),
  csv.replace(`${bookingsHeader}\n`, ''),
  csv.replaceAll(`,${guest},`, `,${guest},${guest},`),
  csv.replaceAll(/^\d+,/gm, `${guest},`),
  csv.replaceAll('2026-12-01', guest),
  csv.replaceAll(guest, `"${guest}" ${guest}`),
  csv.replace(guest, `${guest}\0`),
  Buffer.from(csv.replace(guest, `${guest}\xe9`), 'latin1'),
];

it('names and secrets do not leak from broken sources, configurations and ledgers, and only bodies that are asked for hold names', async () => {
  const { folder, standIn } = await prepareDay({ bookings: csv });
  const run = ['run', '--day', day, '--json', ...traced];
  await folder.run([...run, '--dry-run', '--out', 'out']);
  const out = join(folder.path, 'out');
  const written = await Promise.all((await readdir(out)).map((name) => readFile(join(out, name), 'utf8')));
  expect(written.join('')).toContain(guest);
  expect(written.join('')).not.toContain(apiKey);

  for (const content of brokenSources) {
    await folder.writeBookings(content);
    expect((await folder.run([...run, '--dry-run'])).exitCode).toBe(1);
    expect((await folder.run(run)).exitCode).toBe(1);
    await folder.run(['status', day, ...traced]);
  }
  const env = { SOME_SECRET: 'canary-secret-77aa' };
  for (const service of [
    { baseUrl: `https://user:\${SOME_SECRET}@service.example.com/api/3.0` },
    { apiKey: `\${SOME_SECRET}\n` },
    { timeoutSeconds: `\${SOME_SECRET}` },
  ]) {
    await folder.configure({ service });
    expect((await folder.run(run, { env })).exitCode).toBe(2);
  }
  await folder.configure({ ledger: 'sqlite:./data/none.db' });
  await mkdir(dirname(folder.ledgerFile), { recursive: true });
  await writeFile(join(folder.path, 'data', 'none.db'), csv);
  expect((await folder.run(run)).exitCode).toBe(2);
  expect(standIn.connections).toBe(0);
  expect(await readdir(folder.temporaryFolder)).toEqual([]);
});

const spoiltResults: readonly ((whole: string) => string | Buffer)[] = [
  (whole) => `${whole.slice(0, -200)}"${guest}`,
  (whole) => whole.replaceAll(/True$/gm, guest),
  (whole) => whole.replace(/^.*$/m, `${guest},${guest}`),
  (whole) => whole.replaceAll(`,${guest},`, `,${guest},${guest},`),
  (whole) => Buffer.from(whole.replaceAll(guest, `${guest}\xe9`), 'latin1'),
];

it('names do not leak from spoilt results, nor from an archive that was changed', async () => {
  const { folder } = await prepareFileDay(server(), {
    settings: { file: { resultTimeoutMinutes: 0.01 } },
    async onCall(call) {
      const content = spoiltResults[call.number - 1]?.(call.renderResult()) ?? call.renderResult();
      await writeFile(server().disk(call.path.replace('.csv', '_Result.csv')), content);
      return success;
    },
  });
  for (const number of [...spoiltResults.keys(), spoiltResults.length]) {
    const ofDay = `2026-11-1${number}`;
    await folder.writeBookings(csv, ofDay);
    const { exitCode, report } = await folder.run(['run', '--day', ofDay, '--json', ...traced]);
    expect([0, 1, 3]).toContain(exitCode);
    await folder.run(['status', ofDay, '--json', ...traced]);
    if (exitCode !== 0) continue;
    const path = join(folder.path, 'data', 'archive', ofDay, report.runId, `${ofDay.slice(8)}112026.csv`);
    await writeFile(path, (await readFile(path, 'utf8')).replace(guest, `"${guest}`));
    expect((await folder.run(['verify', ofDay, ...traced])).exitCode).toBe(1);
  }
});
