import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { exitCode } from '../src/cli/exit-code.js';
import { type ImportedMail, renderImport, toImportReport } from '../src/cli/verdict-mails.js';
import type { Config } from '../src/config/load.js';
import { UsageError } from '../src/review/refusals.js';
import { codeOf } from '../src/text/safe-error.js';
import { maxFileBytes } from '../src/verdict-mails/mail-folders.js';
import { splitMails } from '../src/verdict-mails/mail-text.js';
import { recordLook } from './audit.js';
import { openLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';
import { openMailTaker } from './verdict-mails.js';

/** `hotel-review verdicts import`: exits with 1 if an e-mail can't be read; the others are read all the same. */
export async function importVerdicts(config: Config, file: string, terminal: Terminal): Promise<number> {
  const { bytes, savedAt } = await readGiven(file, terminal);
  const ledger = await openLedger(config);
  try {
    const taker = openMailTaker(config, ledger, terminal.notify);
    await taker.resume();
    const emails: ImportedMail[] = [];
    const from = file === '-' ? 'standard input' : basename(file);
    for (const mail of splitMails(bytes)) {
      terminal.signal.throwIfAborted();
      emails.push({ file, ...(await taker.take({ bytes: mail, from, savedAt })) });
    }
    const named = emails.reduce((sum, { bookings }) => sum + bookings.length, 0);
    const details = { emails: emails.length, named };
    await recordLook(ledger, { action: 'verdicts-import', subject: from, details }, terminal);
    terminal.answer(renderImport(emails, terminal.command), { emails: emails.map(toImportReport) });
    return emails.some(({ outcome }) => outcome === 'unreadable') ? exitCode.failed : exitCode.done;
  } finally {
    await ledger.close();
  }
}

async function readGiven(
  file: string,
  { io, locate }: Terminal,
): Promise<{ readonly bytes: Buffer; readonly savedAt?: number }> {
  if (file === '-') return { bytes: await buffer(io.stdin) };
  const path = locate(file);
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new UsageError(`${file} is not a file; name an e-mail or an mbox`);
    if (found.size > maxFileBytes)
      throw new UsageError(`${file} is larger than 512 MB; split it, or name single e-mails`);
    return { bytes: await readFile(path), savedAt: Math.floor(found.mtimeMs) };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${file} can't be read (${codeOf(error) ?? 'unexpected error'}); name an e-mail or an mbox`,
    );
  }
}
