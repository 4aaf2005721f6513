import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readHeldHotels } from '../../jobs/mappings-sync.js';
import { UsageError } from '../../src/text/usage-error.js';

async function read(text: string): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'held-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'held');
  await writeFile(path, text);
  return [...(await readHeldHotels({ name: 'held', path }))];
}

describe('a file of master hotels that are already held', () => {
  it.each([
    ['ids', '10\n0020\r\n\n 30 \n10'],
    ['a CSV with a header', '\uFEFFServiceId,HotelName\n10,"Sol, y Mar"\n"20",\n30;x\n'],
    ['an earlier file of new hotels', '{"ServiceId":10}\n{"ServiceId":20,"a":1}\n{"ServiceId":30}\n'],
  ])('may be %s', async (_what, text) => {
    expect(await read(text)).toEqual([10, 20, 30]);
  });

  it.each([
    ['a line without an id', '10\nten\n', 'line 2 of held does not begin'],
    ['an id that no master hotel has', '10\n0\n', 'line 2 of held does not begin'],
    ['broken JSON', '10\n{"ServiceId":\n', 'line 2 of held does not begin'],
    ['no id at all', 'ServiceId\n', 'holds no'],
  ])('is refused with %s', async (_what, text, words) => {
    const reading = read(text);
    await expect(reading).rejects.toThrow(UsageError);
    await expect(reading).rejects.toThrow(words);
  });

  it('is refused when it does not exist', async () => {
    const reading = readHeldHotels({ name: 'gone.txt', path: '/nowhere/gone.txt' });
    await expect(reading).rejects.toThrow("--held: gone.txt can't be read (ENOENT)");
  });
});
