import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { apiKey, day, prepareDay, type Settings } from '../support/day-folder.js';
import { refusal, type StandInAnswer, type StandInHandler } from '../support/http-stand-in.js';
import { type CheckedPlaces, expectNoLeak, expectNoLeaks } from '../support/leaks.js';
import { bookingsHeader } from '../support/made-bookings.js';
import { csv, guest, runTraced, traced } from './traced-day.js';

const poisoned = 'BR-17';

describe('the check for leaks after each test', () => {
  const secret = 'a-secret-of-the-test';

  function checkWith(changes: Partial<CheckedPlaces>, files: Readonly<Record<string, string>> = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'hotel-review-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return () => expectNoLeaks({ folder, written: [], queue: '', tables: '', secrets: [secret], ...changes });
  }
  const output = { args: ['run'], stdout: '', stderr: '' };

  it.each(['Guest 17', 'Canaria', secret])('fails when %s is in any of its places', (leaked) => {
    const line = `{"level":30,"msg":"batch 0 of ${leaked}"}\n`;
    const places: Readonly<Record<string, () => void>> = {
      'standard error of run': checkWith({ written: [{ ...output, stderr: line }] }),
      'standard output of run': checkWith({ written: [{ ...output, stdout: line }] }),
      'the queue': checkWith({ queue: `["bull:steps:1",{"data":"${leaked}"}]` }),
      'the tables of the ledger': checkWith({ tables: `[{"name":"runs","row":"(1,${leaked})"}]` }),
      'data/log.ndjson': checkWith({}, { 'data/log.ndjson': line }),
      'manifest.json': checkWith({}, { 'data/archive/2026-11-20/manifest.json': line }),
      'tmp/part-1': checkWith({}, { 'tmp/part-1': line }),
      'a file name': checkWith({}, { [`data/spool/${leaked}.csv`]: '' }),
      '/metrics': () => expectNoLeak('/metrics', `hotel_review_runs{day="${leaked}"} 1\n`, [secret]),
    };
    for (const [place, check] of Object.entries(places)) {
      expect(check).toThrow(place);
      expect(check).toThrow(leaked);
    }
  });

  it('fails when a secret is among the arguments, in the ledger, or in an answer that was asked for', () => {
    const answers = { ...output, args: ['show', poisoned, '--answers'], stdout: `no ${secret}` };
    for (const check of [
      checkWith({ written: [{ ...output, args: ['run', secret] }] }),
      checkWith({}, { 'data/ledger.db': `SQLite ${secret}` }),
      checkWith({ written: [answers] }),
    ])
      expect(check).toThrow(secret);
  });

  it('accepts names in ledger, spool and archive, and in answers that were asked for', () => {
    const files = { 'data/ledger.db': guest, 'data/spool/a.csv': guest, 'data/archive/a/b.csv': guest };
    const answers = { ...output, args: ['show', poisoned, '--answers'], stdout: `no hotel for ${guest}` };
    expect(checkWith({ written: [answers] }, files)).not.toThrow();
  });
});

describe('names and secrets of a day by body do not leak, at the most verbose log level,', () => {
  const prepare = (handler?: StandInHandler, settings: Settings = {}, content: string | Buffer = csv) =>
    prepareDay({ bookings: content, settings }, handler);

  it('in a good run: the name is only in the ledger, and secrets reach only the service', async () => {
    const { standIn, folder } = await prepare();
    expect((await folder.run(runTraced)).exitCode).toBe(0);
    for (const args of [
      ['status'],
      ['status', day, '--json'],
      ['show', poisoned],
      ['show', poisoned, '--json'],
    ])
      expect((await folder.run([...args, ...traced])).exitCode).toBe(0);
    expect(standIn.accepted().map((hotel) => hotel.BookingClientName)).toEqual(Array(60).fill(guest));
    for (const { rawHeaders } of standIn.requests) expect(rawHeaders).toContain(apiKey);
    expect(await readdir(folder.temporaryFolder)).toEqual([]);
  });

  // The stand-in quotes what it received in each of these answers.
  it.each<[string, StandInAnswer]>([
    ['a 403', { kind: 'text', status: 403, body: 'no' }],
    ['a 400', { kind: 'text', status: 400, body: 'no' }],
    ['an unreadable 200', { kind: 'text', status: 200, body: 'no' }],
    [
      'a redirect',
      { kind: 'text', status: 302, body: '', headers: { location: 'http://127.0.0.1:9/?guest=Canaria' } },
    ],
    ['2003 in a 200', refusal(2003)],
    ['2009 in a 200', refusal(2009)],
    ['2999 in a 200', refusal(2999)],
    ['no answer', { kind: 'hang' }],
  ])('when the service answers with %s', async (_, answer) => {
    const body = answer.kind === 'hang' ? { timeoutSeconds: 0.3 } : {};
    const { folder } = await prepare(() => answer, { retry: { tries: 1 }, body });
    expect((await folder.run(runTraced)).exitCode).toBe(1);
    await folder.run(['show', poisoned, '--json', ...traced]);
    // A person who asks for the service's words gets them, but still without secrets.
    const { stdout } = await folder.run(['show', poisoned, '--answers']);
    if (answer.kind !== 'hang') expect(stdout).toContain(guest);
  });

  it.each([
    ['a quote that is never closed', csv.replace(`BR-9,${guest}`, `BR-9,"${guest}`)],
    ['no header', csv.replace(`${bookingsHeader}\n`, '')],
    ['shifted cells', csv.replaceAll(`,${guest},`, `,${guest},${guest},`)],
    ['the name instead of the id', csv.replaceAll(/^\d+,/gm, `${guest},`)],
    ['the name instead of the dates', csv.replaceAll('2026-12-01', guest)],
    ['a half-quoted name', csv.replaceAll(guest, `"${guest}" ${guest}`)],
    ['a NUL after the name', csv.replace(guest, `${guest}\0`)],
    ['invalid UTF-8 after the name', Buffer.from(csv.replace(guest, `${guest}\xe9`), 'latin1')],
  ])('when the source is broken: %s', async (_, content) => {
    const { standIn, folder } = await prepare(undefined, {}, content);
    expect((await folder.run([...runTraced, '--dry-run'])).exitCode).toBe(1);
    expect((await folder.run(runTraced)).exitCode).toBe(1);
    await folder.run(['status', day, ...traced]);
    expect(standIn.connections).toBe(0);
  });

  it('when the configuration is wrong', async () => {
    const { folder } = await prepare();
    const env = { SOME_SECRET: 'canary-secret-77aa' };
    for (const service of [
      { baseUrl: `https://user:\${SOME_SECRET}@service.example.com/api/3.0` },
      { apiKey: `\${SOME_SECRET}\n` },
      { timeoutSeconds: `\${SOME_SECRET}` },
    ]) {
      await folder.configure({ service });
      expect((await folder.run(runTraced, { env })).exitCode).toBe(2);
    }
  });

  it('when the ledger is not a database', async () => {
    const { folder } = await prepare();
    await mkdir(dirname(folder.ledgerFile));
    await writeFile(folder.ledgerFile, csv);
    expect((await folder.run(runTraced)).exitCode).toBe(2);
  });

  it('in a dry run with --out: the requested bodies have names, but no secrets', async () => {
    const { folder, standIn } = await prepare();
    await folder.run([...runTraced, '--dry-run', '--out', 'out']);
    const out = join(folder.path, 'out');
    const names = await readdir(out);
    expect(names).toHaveLength(3);
    const bytes = names.map((name) => readFileSync(join(out, name), 'utf8')).join('');
    expect(bytes).toContain(guest);
    expect(bytes).not.toContain(apiKey);
    expect(await readdir(folder.temporaryFolder)).toEqual([]);
    expect(standIn.connections).toBe(0);
  });
});
