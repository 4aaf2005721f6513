import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SandboxError } from '../../src/sandbox/common/errors.js';
import { readOrStartPace } from '../../src/sandbox/world/pace.js';

const usual = { world: 1, hotels: 2_000, wrongMappings: 0.01, changesPerHour: 60 };
const monday = Date.UTC(2026, 10, 16);
const tuesday = Date.UTC(2026, 10, 17);

async function createPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pace-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'world.json');
}

it('keeps changing a world since its first start in the folder', async () => {
  const path = await createPath();
  expect(await readOrStartPace(path, usual, monday)).toEqual({ changesPerHour: 60, since: monday });
  expect(await readOrStartPace(path, usual, tuesday)).toEqual({ changesPerHour: 60, since: monday });
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    ...usual,
    changingSince: '2026-11-16T00:00:00.000Z',
  });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it.each([{ world: 2 }, { hotels: 30 }, { wrongMappings: 0 }, { changesPerHour: 61 }])(
  'starts a new world for %o when that is first requested',
  async (changes) => {
    const path = await createPath();
    await readOrStartPace(path, usual, monday);
    expect(await readOrStartPace(path, { ...usual, ...changes }, tuesday)).toMatchObject({ since: tuesday });
    expect(await readOrStartPace(path, { ...usual, ...changes }, monday)).toMatchObject({ since: tuesday });
  },
);

it.each(['', '{', '[]', 'null', '{"world":1,"hotels":2000,"changesPerHour":60,"changingSince":"soon"}'])(
  'leaves alone a file that holds %o',
  async (content) => {
    const path = await createPath();
    await writeFile(path, content);
    await expect(readOrStartPace(path, usual, monday)).rejects.toThrow(SandboxError);
    expect(await readFile(path, 'utf8')).toBe(content);
  },
);
