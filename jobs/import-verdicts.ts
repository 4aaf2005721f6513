import { access, constants, readFile, stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { exitCode } from '../src/cli/exit-code.js';
import { type ImportedMail, renderImport, toImportReport } from '../src/cli/verdict-mails.js';
import type { Config } from '../src/config/load.js';
import { codeOf } from '../src/text/safe-error.js';
import { UsageError } from '../src/text/usage-error.js';
import { maxFileBytes } from '../src/verdict-mails/mail-folders.js';
import { splitMails } from '../src/verdict-mails/mail-text.js';
import { recordLook } from './audit.js';
import { openLedger } from './parts.js';
import type { Terminal } from './terminal.js';
import { openMailTaker } from './verdict-mails.js';

/** `hotel-review verdicts import`: exits with 1 if an e-mail can't be read; the others are still read. */
export async function importVerdicts(
  config: Config,
  files: readonly string[],
  terminal: Terminal,
): Promise<number> {
  // Refuses a mistyped name before anything is read.
  for (const file of files) await checkGiven(file, terminal);
  const ledger = await openLedger(config);
  const taker = openMailTaker(config, ledger, terminal.notify);
  try {
    await taker.resume();
    const emails: ImportedMail[] = [];
    for (const file of files) {
      const taken = await takeFile(file, taker, terminal);
      // Their senders choose the names of e-mails that are saved.
      const subject = file === standardInput ? 'standard input' : 'file';
      const named = taken.reduce((sum, { bookings }) => sum + bookings.length, 0);
      const details = { emails: taken.length, named };
      await recordLook(ledger, { action: 'verdicts-import', subject, details }, terminal);
      for (const one of taken) emails.push(one);
    }
    terminal.answer(renderImport(emails, terminal.command), { emails: emails.map(toImportReport) });
    const isUnread = emails.some(({ outcome }) => outcome === 'unreadable' || outcome === 'set-aside');
    return isUnread ? exitCode.failed : exitCode.done;
  } finally {
    taker.close();
    await ledger.close();
  }
}

const standardInput = '-';

async function takeFile(
  file: string,
  taker: ReturnType<typeof openMailTaker>,
  { io, locate, signal }: Terminal,
): Promise<ImportedMail[]> {
  const path = locate(file);
  const isGiven = file === standardInput;
  const [bytes, savedAt] = isGiven
    ? [await buffer(io.stdin), undefined]
    : [await readFile(path), Math.floor((await stat(path)).mtimeMs)];
  const from = isGiven ? 'standard input' : 'file';
  const taken: ImportedMail[] = [];
  for (const mail of splitMails(bytes)) {
    signal.throwIfAborted();
    taken.push({ file, ...(await taker.take({ bytes: mail, from, savedAt }, { isAsked: true })) });
  }
  return taken;
}

async function checkGiven(file: string, { locate }: Terminal): Promise<void> {
  if (file === standardInput) return;
  try {
    const path = locate(file);
    const found = await stat(path);
    if (!found.isFile()) throw new UsageError(`${file} is not a file; name an e-mail or an mbox`);
    if (found.size > maxFileBytes)
      throw new UsageError(`${file} is larger than 512 MB; split it, or name single e-mails`);
    await access(path, constants.R_OK);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${file} can't be read (${codeOf(error) ?? 'unexpected error'}); name an e-mail or an mbox`,
    );
  }
}
