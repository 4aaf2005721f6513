import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SourceChunk } from '../../../src/booking/source.js';
import { createModuleSource, type ModuleSourceOptions } from '../../../src/sources/module/module-source.js';
import { columnsIn } from '../../support/source-columns.js';
import { listRecords } from '../../support/source-records.js';
import { day } from '../csv/csv-folder.js';

/** Writes a file to a folder that is removed with the test, and returns its path. */
export async function writeModule(code: string, name = 'bookings.mjs'): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'module-source-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  await writeFile(path, code);
  return path;
}

type Options = Partial<ModuleSourceOptions>;

export function openModuleSource(path: string, options: Options = {}) {
  return createModuleSource({ path, log: { info() {}, warn() {} }, ...options });
}

export async function readModule(code: string, options: Options = {}, name?: string) {
  const columns = columnsIn(code, options.columns);
  const source = openModuleSource(await writeModule(code, name), { ...options, columns });
  const chunks: SourceChunk[] = [];
  for await (const chunk of source.read(day, { signal: new AbortController().signal })) chunks.push(chunk);
  return {
    chunks,
    records: listRecords(chunks),
    notices: chunks.flatMap((chunk) => chunk.notices ?? []),
  };
}
