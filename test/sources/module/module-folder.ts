import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createModuleSource, type ModuleSourceOptions } from '../../../src/sources/module/module-source.js';
import { columnsIn } from '../../support/source-columns.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { readToEnd } from '../reading.js';

/** Writes a file to a folder that is removed with the test, and returns its path. */
export function writeModule(code: string, name = 'bookings.mjs'): string {
  const path = join(makeTemporaryFolder(), name);
  writeFileSync(path, code);
  return path;
}

type Options = Partial<ModuleSourceOptions>;

export function openModuleSource(path: string, options: Options = {}) {
  return createModuleSource({ path, log: { info() {}, warn() {} }, ...options });
}

export function readModule(code: string, options: Options = {}, name?: string) {
  const columns = columnsIn(code, options.columns);
  return readToEnd(openModuleSource(writeModule(code, name), { ...options, columns }));
}
