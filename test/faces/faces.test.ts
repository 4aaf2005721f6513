import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { listBelow } from './files.js';

const recorded = fileURLToPath(new URL('recorded', import.meta.url));
const recorder = fileURLToPath(new URL('record.ts', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'faces-'));
await promisify(execFile)(process.execPath, ['--import', 'tsx', recorder, folder]);
const names = async (of: string) => (await listBelow(of)).map((path) => relative(of, path));

const known = await names(recorded);

/** What people and programs see of a fixed month. If a difference is meant, record it: npm run faces. */
describe('The face of', () => {
  it.each(known)('%s is as recorded', async (name) => {
    const face = await readFile(join(folder, name), 'utf8').catch(() => 'not there any more');
    expect(face).toBe(await readFile(join(recorded, name), 'utf8'));
  });

  it('nothing else is new', async () => {
    expect(await names(folder)).toEqual(known);
    await rm(folder, { recursive: true });
  });
});
