import type { Config } from '../src/config/load.js';
import type { Ledger } from '../src/review/ledger.js';
import { removeSentFiles } from '../src/review/stored/remove-sent.js';
import { findDueDay } from '../src/review/stored/retention.js';
import { SftpError } from '../src/sftp/sftp.js';
import { formatCountOf } from '../src/text/format.js';
import { clock } from './clock.js';
import { openSftp, openSpool } from './parts.js';

/** Removes our files from the SFTP server after `file.removeAfterDays`. A failure is reported, but fails no run. */
export async function removeConfigured(
  config: Config,
  ledger: Ledger,
  warn: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { timezone, file } = config;
  const moment = { now: clock(), timezone };
  const before = await findDueDay(ledger, file.removeAfterDays ?? Number.POSITIVE_INFINITY, moment);
  if (before === undefined) return;
  const sftp = openSftp(config);
  try {
    const parts = { ledger, spool: openSpool(config), sftp, timezone, clock };
    const { denied, isNewlyDenied } = await removeSentFiles(parts, before, signal);
    if (isNewlyDenied)
      warn(
        `the SFTP server refuses to remove our files (${formatCountOf(denied, 'file')} so far), which is tried again once a week: ask its ` +
          'operator for the right to remove files below VerifyMappings, or to remove them, or unset file.removeAfterDays',
      );
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof SftpError)) throw error;
    warn(
      `old files could not be removed from the SFTP server; it will be tried again later: ${error.message}`,
    );
  } finally {
    await sftp.close();
  }
}
