import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../base/safe-error.js';

/*
 * Small files, written synchronously (see `DayKeys`) and flushed to disk before anything depends on them. Mode 0600, in folders
 * with mode 0700. All throw the system's error.
 */

/** The text of a file; undefined if there is none. */
export function readTextFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The names in a folder, sorted; none if there is no such folder. */
export function listNames(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Writes a new file atomically; false if it exists already. */
export function createTextFile(path: string, text: string): boolean {
  return withTemporary(path, text, (temporary) => {
    try {
      linkSync(temporary, path);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    }
  });
}

/** Replaces a file atomically. */
export function replaceTextFile(path: string, text: string): void {
  withTemporary(path, text, (temporary) => renameSync(temporary, path));
}

/** Overwrites a file's bytes, then removes it. */
export function wipeFile(path: string): void {
  const { length } = readTextFile(path) ?? '';
  if (length > 0) {
    const file = openSync(path, 'r+');
    writeAndClose(file, ' '.repeat(length));
  }
  rmSync(path, { force: true });
  syncFolder(dirname(path));
}

function withTemporary<Result>(path: string, text: string, publish: (temporary: string) => Result): Result {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomUUID()}.part`;
  try {
    writeAndClose(openSync(temporary, 'wx', 0o600), text);
    const result = publish(temporary);
    syncFolder(folder);
    return result;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function writeAndClose(file: number, text: string): void {
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes the names in a folder durable. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
