import { isFull } from '../../base/disk-room.js';
import { SafeError } from '../../base/safe-error.js';
import { LedgerFullError } from '../errors.js';
import { openLedgerFile } from './ledger-file.js';

/**
 * Copies the ledger in a file into another one, as it is at this moment, whatever other processes write meanwhile. The copy needs no file
 * beside it, and has no free pages, in which names that were removed might be left.
 *
 * It waits for the disk and lets nothing else happen in this process until it is done.
 *
 * @param to an empty file, at an absolute path; it is not flushed to disk
 * @throws LedgerUnusableError for a ledger that is damaged or none
 */
export function copyLedger(path: string, to: string): void {
  const { database, close } = openLedgerFile(path, { isReader: true });
  try {
    database.exec(`VACUUM INTO '${to.replaceAll("'", "''")}'`);
  } catch (error) {
    // The ledger itself is only read.
    if (error instanceof LedgerFullError)
      throw new SafeError(`the disk of the copy ${isFull}, then run the command again`, { cause: error });
    throw error;
  } finally {
    close();
  }
}
