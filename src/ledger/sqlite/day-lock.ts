import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isBusy, openDatabase } from './database.js';

/** Of two that try at the same instant, each can be in the other's way: the pause lets one of them have it. */
const usualTimeoutMs = 250;

/**
 * A lock that the kernel holds for this process: an exclusive transaction on an empty side file. It ends with the
 * process, however that ends, so a dead owner's day is free at once.
 */
export function tryLock(
  folder: string,
  name: string,
  busyTimeoutMs = usualTimeoutMs,
): { release(): void } | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = openDatabase(join(folder, `${name}.lock`), { busyTimeoutMs });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  let isHeld = true;
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      database.exec('ROLLBACK');
      database.close();
    },
  };
}
