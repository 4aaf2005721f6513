import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { unzipSync } from 'fflate';
import { expect, it } from 'vitest';
import { archiveOf, sha256Of } from '../support/archived-run.js';
import { accountId, apiKey, day } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay, remoteFolder, remotePath, resultPath, toReviewFile } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings } from '../support/made-bookings.js';
import { runArguments } from '../support/reviewed-day.js';
import { openSsh } from '../support/sftp-programs.js';
import { makeRemoteFolder, useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const complete = makeBookings(6);
/** None of these can go into the file. */
const incomplete = makeBookings(3, { first: 101 }).map((booking, index) => ({
  ...booking,
  ...[{ BookingClientName: 'Null' }, { ProviderName: '' }, { ProviderHotelId: '' }][index],
}));
const old = toReviewFile(makeBookings(2, { first: 901 }));
const oldResult = old.replaceAll(/\n(?=.)/g, ',False\n').replace(',False', ',IsCorrectMapping');
/** A column that is kept for people, and not sent. */
const price = '185.50';
const modeOf = (path: string) => statSync(path).mode & 0o777;

it('a night by file against a real server, stopped while its result is awaited, is sent once and proven', async () => {
  const spooled: number[] = [];
  const { folder, standIn, service, listRemote } = await prepareFileDay(server(), {
    bookings: stringify(
      [...complete, ...incomplete].map((booking) => ({ ...booking, precio: price })),
      { header: true },
    ),
    settings: {
      source: { keep: { Price: 'precio' } },
      // Nobody looks again so soon.
      file: { resultPollSeconds: 600, maxPostedShare: 1 },
    },
    onCall() {
      const spool = join(folder.path, 'data', 'spool');
      spooled.push(...readdirSync(spool).map((name) => modeOf(join(spool, name))));
      return success;
    },
  });
  makeRemoteFolder(server(), remoteFolder);
  writeFileSync(server().disk(remotePath), old);
  writeFileSync(server().disk(resultPath), oldResult);

  // What a dry run writes is what is sent then, and it uses neither the server nor the service.
  const dry = await folder.run(['run', '--day', day, '--dry-run', '--out', 'out', '--json']);
  expect(dry).toMatchObject({
    exitCode: 0,
    json: { file: { rows: 6, sha256: sha256Of(toReviewFile(complete)) } },
  });
  expect(readdirSync(join(folder.path, 'out')).sort()).toEqual([
    '20112026.csv',
    'SHA256SUMS',
    'batch-0.json',
  ]);
  expect(standIn.connections).toBe(0);
  expect(readFileSync(server().disk(remotePath), 'utf8')).toBe(old);

  const asked = folder.start([...runArguments, '--log-level', 'trace']);
  await asked.wrote('"step":"await-result"');
  asked.kill('SIGTERM');
  const stopped = await asked.ended;
  expectReport(stopped, { exitCode: 3, state: 'awaiting-result', counts: { delivered: 9 } });
  expect(stopped.stderr).toContain(`run ${day}`);
  expect(listRemote()).toEqual(['20112026.csv']);

  await service.calls[0]?.writeResult({ affected: ['BR-2'] });
  const result = await folder.runDay();
  const counts = { read: 9, accepted: 9, delivered: 9, repeated: 0, affected: 1, unanswered: 0 };
  expectReport(result, { exitCode: 0, state: 'succeeded', counts });
  expect(result.report.runId).toBe(stopped.report.runId);

  const sent = readFileSync(server().disk(remotePath));
  expect(sent.toString()).toBe(toReviewFile(complete));
  expect(service.calls).toEqual([expect.objectContaining({ path: remotePath, file: sent })]);
  const call = standIn.requests.find(({ url }) => url.includes('ByFile'));
  expect(call).toMatchObject({ method: 'GET' });
  expect(call?.rawHeaders).toEqual(expect.arrayContaining(['apikey', apiKey, 'accountId', accountId]));
  const posts = standIn.requests.filter(({ method }) => method === 'POST').map(({ body }) => body);
  const out = (name: string) => readFileSync(join(folder.path, 'out', name));
  expect([sent, ...posts]).toEqual([out('20112026.csv'), out('batch-0.json')]);

  const archive = archiveOf(result);
  const kept = (name: string, content: string) => `earlier-${sha256Of(content).slice(0, 12)}-${name}`;
  const files = new Map([
    ['20112026.csv', sent],
    ['20112026_Result.csv', readFileSync(server().disk(resultPath))],
    [kept('20112026.csv', old), Buffer.from(old)],
    [kept('20112026_Result.csv', oldResult), Buffer.from(oldResult)],
  ]);
  expect(archive.names()).toEqual([...files.keys(), 'manifest.json'].sort());
  for (const [name, content] of files) expect(archive.read(name)).toEqual(content);
  expect(archive.readManifest()).toMatchObject({ calls: [{ outcome: 'done', httpStatus: 200 }] });
  expect(new Set([...spooled, ...archive.names().map((name) => modeOf(join(archive.path, name)))])).toEqual(
    new Set([0o600]),
  );
  expect(readdirSync(join(folder.path, 'data', 'spool'))).toEqual([]);
  expect((await folder.run(['verify', day])).exitCode).toBe(0);
  expect((await folder.run(['affected', day, '--json'])).json).toMatchObject({
    affected: [{ BookingReferenceId: 'BR-2', kept: { Price: price } }],
  });
  expect(JSON.stringify(standIn.requests.map(({ url, body }) => `${url} ${body}`))).not.toContain(price);

  // The page of the day that is kept beside it names hotels, and nothing of a booking.
  const pages = join(folder.path, 'data', 'archive', 'reports', day);
  expect(readdirSync(pages)).toEqual([`${result.report.runId}-succeeded.html`]);
  const page = readFileSync(join(pages, `${result.report.runId}-succeeded.html`), 'utf8');
  expect(page).toContain('1 booking on an incorrect mapping');
  expect(page).toContain('002A');
  expect(page).not.toMatch(/Guest|BR-\d|2026-12-0[18]/);

  expect((await folder.run(['evidence', 'BR-2', '--out', 'proof.zip'])).exitCode).toBe(0);
  expect(modeOf(join(folder.path, 'proof.zip'))).toBe(0o600);
  const proof = new Map(Object.entries(unzipSync(readFileSync(join(folder.path, 'proof.zip')))));
  // Nobody else is in it.
  expect(Buffer.concat([...proof.values()].map(Buffer.from)).toString()).not.toMatch(/BR-(?!2\b)\d/);

  // A run of a day that is done makes no call.
  const requests = standIn.requests.length;
  expect((await folder.runDay()).json).toEqual(result.json);
  expect(standIn.requests).toHaveLength(requests);
});
