import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type DayFormat, renderDay } from '../../src/sandbox/bookings/day-text.js';
import type { MadeDay } from '../../src/sandbox/bookings/made-bookings.js';
import {
  formatOfName,
  NameTakenError,
  streamDay,
  writeDayFile,
} from '../../src/sandbox/bookings/write-day.js';
import { createWorld, isCorrectlyMapped } from '../../src/sandbox/world/world.js';
import { createDayFolder, day } from '../support/day-folder.js';
import { patienceMs } from '../support/patience.js';

const world = createWorld({ seed: 1 });
const madeDay = (changes: Partial<MadeDay> = {}): MadeDay => ({
  ...{ day, count: 20_000, seed: 1, world, wrongShare: 0.02 },
  ...changes,
});

async function textOf(made: MadeDay, format: DayFormat): Promise<string> {
  let text = '';
  for await (const chunk of renderDay(made, format).chunks) text += chunk;
  return text;
}

describe('a made-up day', () => {
  it('is identical for the same arguments, byte for byte, and differs for another seed, day or world', async () => {
    const digestOf = async (changes: Partial<MadeDay>, format: DayFormat = 'csv') =>
      createHash('sha256')
        .update(await textOf(madeDay({ count: 2_000, ...changes }), format))
        .digest('hex');
    const csv = '6c3b172024a951239d0040d8df5b7c96b0a6088a44e1442a551328ba624fedc3';
    expect(await digestOf({})).toBe(csv);
    expect(await digestOf({}, 'ndjson')).toBe(
      '84a3c56c66eba4a8e3d27fc938c54719081228914792509368f7645e103555f7',
    );
    for (const other of [{ seed: 2 }, { day: '2026-11-21' }, { world: createWorld({ seed: 2 }) }])
      expect(await digestOf(other)).not.toBe(csv);
  });

  it.each([
    ['csv', 'day.csv', 1],
    ['ndjson', 'day.ndjson.gz', 2],
  ] as const)('is read by a run with the counts that it reports, as %s', async (format, name, seed) => {
    const login = { host: '127.0.0.1', username: 'nobody', password: 'none' };
    const sftp = { ...login, hostKey: `SHA256:${'A'.repeat(43)}` };
    const settings = { source: { kind: format, path: name }, file: { sftp } };
    const folder = await createDayFolder({ baseUrl: 'http://127.0.0.1:9/api/3.0', settings });
    const made = await writeDayFile(join(folder.path, name), madeDay({ seed, count: 1_000 }), format);
    const out = join(folder.path, 'bodies');
    const { exitCode, json } = await folder.run(['run', '--day', day, '--dry-run', '--json', '--out', out]);
    expect(exitCode).toBe(0);
    const bySum = (rejects: typeof made.rejects) =>
      Object.fromEntries(rejects.map((one) => [one.reason, one.count]));
    const dry = json as { counts: object; rejects: typeof made.rejects; warnings: unknown };
    expect(dry).toMatchObject({
      counts: { read: 1_000, accepted: made.bookings, duplicates: made.duplicates, rejected: made.rejected },
      warnings: [],
    });
    expect(bySum(dry.rejects)).toEqual(bySum(made.rejects));
    const names = (await readdir(out)).filter((file) => file.endsWith('.json'));
    const bodies = await Promise.all(names.map((file) => readFile(join(out, file), 'utf8')));
    const hotels = bodies.flatMap((body) => JSON.parse(body).Hotels as Record<string, string>[]);
    // Decided by the world, independently of the generator's own flag.
    const wrong = hotels.filter(
      ({ ServiceId, ProviderName: providerName, ProviderHotelId: providerHotelId }) =>
        !isCorrectlyMapped({ serviceId: Number(ServiceId), providerName, providerHotelId }, world),
    );
    expect(wrong).toHaveLength(made.wrongMappings);
    expect(wrong.map(({ BookingReferenceId }) => BookingReferenceId)).toEqual(
      expect.arrayContaining([...made.wrongReferences]),
    );
    expect(hotels.filter((hotel) => Object.keys(hotel).length < 7)).toHaveLength(made.incomplete);
    const byFile = await folder.run(['run', '--day', day, '--dry-run', '--json', '--delivery', 'file']);
    expect(byFile.json).toMatchObject({ file: { rows: made.bookings - made.unfitForFile } });
  });
});

describe('a made-up day in a file', () => {
  async function createFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'made-day-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    return folder;
  }

  it('is the text, compressed by its name, for its owner only, and replaces nothing', async () => {
    const folder = await createFolder();
    const text = await textOf(madeDay(), 'csv');
    await symlink(join(folder, 'nowhere'), join(folder, 'link.csv'));
    for (const name of ['day.csv', 'day.csv.gz']) {
      const path = join(folder, name);
      await writeDayFile(path, madeDay(), 'csv');
      const bytes = await readFile(path);
      expect((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()).toBe(text);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    }
    for (const taken of ['day.csv', 'link.csv'])
      await expect(writeDayFile(join(folder, taken), madeDay({ count: 5e8 }), 'csv')).rejects.toThrow(
        NameTakenError,
      );
    expect((await readdir(folder)).sort()).toEqual(['day.csv', 'day.csv.gz', 'link.csv']);
    expect(['a/day.csv', 'day.csv.gz', 'day.ndjson', 'day.ndjson.gz'].map(formatOfName)).toEqual([
      ...['csv', 'csv', 'ndjson', 'ndjson'],
    ]);
    for (const name of ['csv', 'day.gz', 'day.json', 'day.csv/']) expect(formatOfName(name)).toBeUndefined();
  });

  it('leaves nothing behind when it is stopped or its name is taken meanwhile', async () => {
    const folder = await createFolder();
    const isWriting = async () => (await readdir(folder)).some((name) => name.endsWith('.partial'));
    const path = join(folder, 'day.csv');
    const late = expect(writeDayFile(path, madeDay({ count: 100_000 }), 'csv')).rejects.toThrow(
      NameTakenError,
    );
    await vi.waitUntil(isWriting, { timeout: patienceMs });
    await writeFile(path, 'mine');
    await late;
    const stop = new AbortController();
    const reason = new Error('stopped by the test');
    const stopped = expect(
      writeDayFile(join(folder, 'day.csv.gz'), madeDay({ count: 5e7 }), 'csv', stop),
    ).rejects.toBe(reason);
    await vi.waitUntil(isWriting, { timeout: patienceMs });
    stop.abort(reason);
    await stopped;
    expect(await readdir(folder)).toEqual(['day.csv']);
    expect(await readFile(path, 'utf8')).toBe('mine');
  });

  it('is streamed with back-pressure, to a stream that is left open, until that fails or a stop', async () => {
    let [text, most] = ['', 0];
    const slow = new Writable({
      highWaterMark: 1_000,
      write(chunk, _encoding, done) {
        text += String(chunk);
        most = Math.max(most, slow.writableLength);
        setImmediate(() => setImmediate(done));
      },
    });
    expect(await streamDay(renderDay(madeDay(), 'csv'), slow)).toBe(true);
    expect(text).toBe(await textOf(madeDay(), 'csv'));
    expect(most).toBeLessThan(200_000);
    expect(slow.writableEnded).toBe(false);
    const fault = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    const full = new Writable({ write: (_chunk, _encoding, done) => setImmediate(done, fault) });
    await expect(streamDay(renderDay(madeDay(), 'csv'), full)).rejects.toBe(fault);
    const stuck = new Writable({ highWaterMark: 1_000, write: () => {} });
    const stop = new AbortController();
    const reason = new Error('stopped by the test');
    const streamed = expect(streamDay(renderDay(madeDay(), 'csv', stop), stuck, stop)).rejects.toBe(reason);
    await vi.waitUntil(() => stuck.writableNeedDrain, { timeout: patienceMs });
    stop.abort(reason);
    await streamed;
  });
});
