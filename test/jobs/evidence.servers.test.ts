import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { type DayFolder, day, prepareDay, type Settings } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { fillCopyOf, mappingOf } from '../support/mapping-truth.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const guest = 'Cañária Quetzal';
const bookings = makeBookings(60).map((booking) => ({ ...booking, BookingClientName: guest }));
const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

/** The files of a ZIP, by name; those of the only run without its folder. */
async function readZip(folder: DayFolder, name: string) {
  const files = new Map<string, Buffer>();
  for (const [path, content] of Object.entries(unzipSync(await readFile(join(folder.path, name)))))
    files.set(path, Buffer.from(content));
  return files;
}

interface Index {
  readonly runs: readonly {
    readonly folder: string;
    readonly checksums: readonly Readonly<Record<string, string>>[];
    readonly bookings: readonly object[];
  }[];
  readonly mappings: readonly object[];
  readonly files: readonly { readonly name: string; readonly sha256: string }[];
}

async function runFileDay(settings: Settings = {}) {
  const prepared = await prepareFileDay(server(), {
    bookings: toCsv(bookings),
    settings,
    async onCall(call) {
      await call.writeResult({ affected: ['BR-7'] });
      return success;
    },
  });
  expectReport(await prepared.folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
  return prepared;
}

describe('evidence on a booking of a file', () => {
  it.each([
    ['as it is', {}],
    ['encrypted', { keys: './keys' }],
  ])(
    'has the line as sent, its rows, the verdict and checksums, with the archive %s',
    async (_, settings) => {
      const { folder, service } = await runFileDay(settings);
      const [seventh] = bookings.slice(6, 7);
      if (!seventh) throw new Error('expected seven bookings');
      const asBooked = mappingOf(seventh);
      await fillCopyOf(
        folder,
        { at: Date.now() - 9_000, rows: [asBooked] },
        { at: Date.now(), rows: [{ ...asBooked, serviceId: 4711 }] },
      );
      const result = await folder.run(['evidence', 'BR-7', '--out', 'proof.zip', '--json']);
      expect(result.exitCode).toBe(0);
      expect((await stat(join(folder.path, 'proof.zip'))).mode & 0o777).toBe(0o600);
      const files = await readZip(folder, 'proof.zip');
      const index = JSON.parse(String(files.get('index.json'))) as Index;
      const [run] = index.runs;
      const inRun = (name: string) => files.get(`${run?.folder}/${name}`) ?? Buffer.alloc(0);

      const sent = service.calls[0]?.file ?? Buffer.alloc(0);
      expect(sent.toString().split('\n')).toContain(inRun('sent-1.csv').toString());
      expect(inRun('sent-1.csv').toString()).toContain(`BR-7,${guest}`);
      expect(JSON.parse(inRun('rows.json').toString())).toMatchObject([
        { name: '20112026.csv', records: [{ line: 8, cells: { BookingReferenceId: 'BR-7' } }] },
        { name: '20112026_Result.csv', records: [{ line: 8 }] },
      ]);
      expect(run).toMatchObject({
        checksums: [
          { name: '20112026.csv', recorded: sha256(sent), archived: sha256(sent) },
          { name: '20112026_Result.csv' },
          { name: 'manifest.json', archived: sha256(inRun('manifest.json')) },
        ],
        bookings: [
          { verdict: 'incorrect', attempts: [{ step: 'trigger', outcome: 'done', httpStatus: 200 }] },
        ],
      });
      expect(index.mappings).toMatchObject([{ serviceId: 4711, history: [{ to: 4711 }] }]);
      for (const { name, sha256: sum } of index.files)
        expect(sha256(files.get(name) ?? Buffer.alloc(0))).toBe(sum);
      const text = String(files.get('index.txt'));
      expect(text).toContain('verdict: affected, its mapping is incorrect');
      expect(text).toContain('20112026.csv (archive): 1 row, line 8');
      expect(text).toContain('and the archive holds the same');
      // Nobody else is in it.
      expect([...files.values()].join('\n')).not.toMatch(/BR-(?!7\b)\d/);
    },
  );

  it('is not written over a file, leaves a trace in the audit trail, and is listed by privacy', async () => {
    const { folder } = await runFileDay();
    expect((await folder.run(['evidence', 'BR-7', '--out', 'proof.zip'])).exitCode).toBe(0);
    const before = await readFile(join(folder.path, 'proof.zip'));
    const again = await folder.run(['evidence', 'BR-7', '--out', 'proof.zip']);
    expect(again).toMatchObject({ exitCode: 2 });
    expect(again.stderr).toContain('exists already');
    expect(await readFile(join(folder.path, 'proof.zip'))).toEqual(before);
    expect((await folder.run(['evidence', 'BR-7', '--out', 'proof.zip', '--force'])).exitCode).toBe(0);
    expect(JSON.stringify((await folder.run(['audit', '--json'])).json)).toMatch(
      /"evidence","subject":"BR-7"/,
    );
    expect(JSON.stringify((await folder.run(['privacy', '--json'])).json)).toContain('proof.zip');
  });
});

describe('evidence on a booking of several runs by body', () => {
  it('has a folder for each run, the oldest first, with the item as sent', async () => {
    const { folder, standIn } = await prepareDay({ bookings: toCsv(bookings) });
    await folder.runDay();
    await folder.run(['replay', day, '--reason', 'again', '--json']);
    expect((await folder.run(['evidence', 'BR-7', '--out', 'proof.zip'])).exitCode).toBe(0);
    const files = await readZip(folder, 'proof.zip');
    const index = JSON.parse(String(files.get('index.json'))) as Index;
    expect(index.runs).toMatchObject([
      { trigger: 'manual', bookings: [{ verdict: 'unknown', verdictReason: 'by-email' }] },
      { trigger: 'replay', bookings: [{ verdict: 'unknown', verdictReason: 'by-email' }] },
    ]);
    for (const run of index.runs) {
      const item = String(files.get(`${run.folder}/sent-1.json`));
      expect(standIn.requests.filter(({ body }) => body.toString().includes(item))).toHaveLength(2);
    }
  });

  it('needs a booking that a run contains', async () => {
    const { folder } = await prepareDay({ bookings: toCsv(bookings.slice(0, 3)) });
    await folder.runDay();
    const result = await folder.run(['evidence', 'BR-99', '--out', 'proof.zip', '--json']);
    expect(result).toMatchObject({ exitCode: 1, json: { reference: 'BR-99', out: null, runs: [] } });
    await expect(stat(join(folder.path, 'proof.zip'))).rejects.toThrow('ENOENT');
  });
});
