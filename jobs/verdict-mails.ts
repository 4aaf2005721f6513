import { startLimited } from '../src/cases/mails/limited-process.js';
import { createMailProcess, readerLimits } from '../src/cases/mails/mail-process.js';
import { createMailPoller, type Mailbox } from '../src/cases/mails/mailbox.js';
import { createMailTaker } from '../src/cases/mails/take-mail.js';
import type { Config } from '../src/config/load.js';
import type { App } from './app.js';
import { clock } from './clock.js';

const dayMs = 86_400_000;
/** E-mails are matched with the bookings of runs that ended within so many days; a mailbox is read as far back. */
const matchDays = 14;

/** Reads verdict e-mails with the configured settings, in a process of its own. */
export async function openMailTaker(app: App) {
  const { file, verdicts, service } = app.config;
  const { resultColumn, resultValues } = file;
  const words = { resultColumn, resultValues, masterIdColumn: service.masterIdColumn };
  const { examine, close } = createMailProcess(words, startMailReader);
  const taker = createMailTaker({
    ledger: await app.ledger(),
    examine,
    senders: { from: verdicts.from ?? [], authenticatedBy: verdicts.authenticatedBy },
    today: app.today,
    matchMs: matchDays * dayMs,
    clock,
    notify: app.notify,
  });
  /** `close` ends the process that reads e-mails. */
  return { ...taker, close };
}

const startMailReader = () =>
  startLimited(new URL('./processes/mail-reader.js', import.meta.url), readerLimits);

/** Reads the configured mailbox as long as `serve` runs; undefined if there is none. */
export async function openMailPoller(app: App) {
  const { config, notify, signal } = app;
  const mailbox = await openMailbox(config);
  if (!mailbox) return undefined;
  const { mails } = await app.ledger();
  const taker = await openMailTaker(app);
  const poller = createMailPoller({
    mailbox,
    taker,
    pollMs: config.verdicts.pollMinutes * 60_000,
    notify,
    noteMailbox: mails.noteMailbox,
    clock,
    signal,
  });
  return {
    ...poller,
    async close() {
      await poller.close();
      taker.close();
    },
  };
}

/** Where verdict e-mails are read, for people; undefined for nowhere. */
export function findMailbox({ verdicts: { imap, maildir } }: Config): string | undefined {
  return imap ? `the mailbox on ${imap.host}` : maildir;
}

/** The configured mailbox; undefined if there is none. */
export async function openMailbox({ verdicts }: Config): Promise<Mailbox | undefined> {
  const { imap, maildir } = verdicts;
  if (imap) {
    const port = imap.port ?? (imap.tls === 'implicit' ? 993 : 143);
    const { openImapMailbox } = await import('../src/cases/mails/imap-mailbox.js');
    return openImapMailbox({ ...imap, port, days: matchDays, clock });
  }
  if (maildir === undefined) return undefined;
  return (await import('../src/cases/mails/maildir.js')).openMaildir(maildir, clock);
}
