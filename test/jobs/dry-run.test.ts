import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { startStandIn } from '../support/http-stand-in.js';
import { csvOf, makeBookings, toCsv } from '../support/made-bookings.js';

const bookings = makeBookings(120);

it('a dry run counts and checks the day, and uses neither the service nor the ledger', async () => {
  const [first] = bookings;
  const records = [...bookings, ...(first ? [first, { ...first, ServiceId: 0 }] : [])];
  const { standIn, folder } = await prepareDay({ bookings: toCsv(records) });
  const before = await readdir(folder.path);
  const result = await folder.run(['run', '--day', day, '--dry-run', '--json']);
  expect(result.exitCode).toBe(0);
  expect(result.json).toMatchObject({
    day,
    counts: { read: 122, accepted: 120, duplicates: 1, rejected: 1, delivered: 0 },
    rejects: [{ reason: 'service-id-invalid', count: 1, firstPlace: 123 }],
    batches: 3,
  });
  expect(standIn.connections).toBe(0);
  expect(await readdir(folder.path)).toEqual(before);
  expect(await readdir(folder.temporaryFolder)).toEqual([]);
});

it('a dry run shows a sample with the names masked', async () => {
  const { folder } = await prepareDay({ bookings: toCsv(bookings) });
  const { stdout } = await folder.run(['run', '--day', day, '--dry-run']);
  expect(stdout).toContain('"BookingReferenceId":"BR-1"');
  expect(stdout).toContain('"BookingClientName":"***"');
  expect(stdout).not.toContain('Guest 1');
});

it('a dry run says what it does before the source has answered', async () => {
  const api = await startStandIn(() => ({ kind: 'hang' }));
  onTestFinished(() => api.close());
  const { folder } = await prepareDay({
    settings: { source: { kind: 'http', path: undefined, url: `${api.baseUrl}/bookings?day={day}` } },
  });
  const command = folder.call(['run', '--day', day, '--dry-run']);
  await api.received(1);
  expect(command.stderr).toBe(`${day}: reading the bookings for a dry run\n`);
  command.stop('SIGTERM');
  expect(await command.ended).toMatchObject({ exitCode: 1 });
});

it('a dry run of a finished day, of a failed one, and of a replay changes nothing', async () => {
  const { standIn, folder } = await prepareDay({ bookings: toCsv(bookings) });
  await folder.runDay();
  const before = (await folder.run(['status', day, '--json'])).json;
  const requests = standIn.requests.length;
  expect((await folder.run(['run', '--day', day, '--dry-run'])).exitCode).toBe(0);
  expect((await folder.run(['replay', day, '--dry-run'])).exitCode).toBe(0);
  expect((await folder.run(['status', day, '--json'])).json).toEqual(before);
  expect(standIn.requests).toHaveLength(requests);
});

it('--out writes exactly the bodies that a run then sends, with valid checksums, readable only by their owner', async () => {
  const { standIn, folder } = await prepareDay({ bookings: toCsv(bookings) });
  const out = join(folder.path, 'bodies');
  const dry = await folder.run(['run', '--day', day, '--dry-run', '--out', out, '--json']);
  expect(dry.exitCode).toBe(0);
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out, stdio: 'pipe' });
  const names = (await readdir(out)).filter((name) => name !== 'SHA256SUMS');
  expect(names).toHaveLength(3);
  for (const name of await readdir(out)) expect((await stat(join(out, name))).mode & 0o777).toBe(0o600);
  expect((await stat(out)).mode & 0o777).toBe(0o700);
  expect(standIn.connections).toBe(0);

  expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded' });
  const written = await Promise.all(names.map((name) => readFile(join(out, name), 'utf8')));
  const sent = standIn.requests.map(({ body }) => body.toString());
  expect(written.toSorted()).toEqual(sent.toSorted());
  const { sha256 } = dry.json as { sha256: string };
  const inBatchOrder = [0, 1, 2].map((batch) => written[names.indexOf(`batch-${batch}.json`)] ?? '');
  expect(createHash('sha256').update(inBatchOrder.join('')).digest('hex')).toBe(sha256);
});

it('--out lists the rejected records too, even of a day that can not be sent', async () => {
  const records = bookings.map((booking, at) => ({ ...booking, ServiceId: at < 100 ? 0 : 7 }));
  const { folder } = await prepareDay({ bookings: toCsv(records) });
  const out = join(folder.path, 'rejects');
  const dry = await folder.run(['run', '--day', day, '--dry-run', '--out', out]);
  expect(dry.exitCode).toBe(1);
  expect((await readdir(out)).toSorted()).toEqual(['SHA256SUMS', 'rejected.csv']);
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out, stdio: 'pipe' });
  const lines = (await readFile(join(out, 'rejected.csv'), 'utf8')).split('\n');
  const reference = records[0]?.BookingReferenceId;
  expect(lines[0]).toBe('\uFEFFplace,reason,reference,field,value');
  expect(lines[1]).toBe(`2,service-id-invalid,${reference},ServiceId,0`);
  expect(lines).toHaveLength(102);
});

it('--out to a folder with such files overwrites nothing', async () => {
  const { folder } = await prepareDay({ bookings: toCsv(bookings) });
  const out = join(folder.path, 'bodies');
  await folder.run(['run', '--day', day, '--dry-run', '--out', out]);
  const before = await readFile(join(out, 'batch-0.json'), 'utf8');
  await folder.writeBookings(csvOf(10));
  const again = await folder.run(['run', '--day', day, '--dry-run', '--out', out]);
  expect(again.exitCode).toBe(2);
  expect(again.stderr).toContain('exists already');
  expect(await readFile(join(out, 'batch-0.json'), 'utf8')).toBe(before);
});

it('a dry run of a day that would fail says why, with exit 1', async () => {
  const { standIn, folder } = await prepareDay({});
  const result = await folder.run(['run', '--day', day, '--dry-run', '--json']);
  expect(result.exitCode).toBe(1);
  expect(result.json).toMatchObject({
    day,
    error: { class: 'data', message: expect.stringContaining(folder.bookingsFile) },
  });
  expect(standIn.connections).toBe(0);
  expect(await readdir(folder.temporaryFolder)).toEqual([]);
});

it('a dry run that is stopped says so, with exit 1, and leaves nothing behind', async () => {
  const { folder } = await prepareDay({ bookings: csvOf(300_000) });
  const command = folder.call(['run', '--day', day, '--dry-run', '--json', '--log-level', 'debug']);
  await command.wrote('collecting');
  command.stop('SIGINT');
  const result = await command.ended;
  expect(result.exitCode).toBe(1);
  expect(result.json).toEqual({ error: { class: 'stopped', message: 'stopped by SIGINT' } });
  expect(await readdir(folder.temporaryFolder)).toEqual([]);
});
