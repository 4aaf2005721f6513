import { runLimited } from '../../src/cases/mails/limited-process.js';

/** The process that talks to the mail server. It has the mailbox's password and nothing else, and may be killed at any moment. */
void runLimited(new URL(import.meta.url), async () =>
  (await import('../../src/cases/mails/imap-session.js')).openImapReader(),
);
