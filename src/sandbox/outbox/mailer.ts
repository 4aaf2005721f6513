import { randomUUID } from 'node:crypto';
import { link, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';

export interface Email {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Puts e-mails into the outbox: nothing is ever sent. */
export interface Mailer {
  /**
   * Writes an e-mail as an `.eml` file, whole or not at all. Emails that are written at once don't disturb each other.
   *
   * @returns its path
   * @throws the system's error when the folder can't be written
   */
  post(email: Email): Promise<string>;
}

export interface MailerOptions {
  /** Made when it is not there, with mode 0700: e-mails name guests. */
  readonly folder: string;
  readonly from: string;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** Its files are named by the time and a number: `20261120T140307.123Z-0001.eml`, mode 0600. */
export function createMailer({ folder, from, clock }: MailerOptions): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  let emails = 0;

  /** Puts a finished e-mail under the next free name: another process may use the folder too. */
  async function publish(unsent: string, stamp: string): Promise<string> {
    for (;;) {
      emails += 1;
      const path = join(folder, `${stamp}-${String(emails).padStart(4, '0')}.eml`);
      try {
        await link(unsent, path);
        return path;
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      }
    }
  }

  return {
    async post(email) {
      const now = new Date(clock());
      const { message } = await transport.sendMail({
        ...email,
        from,
        date: now,
        messageId: `<${randomUUID()}@sandbox.invalid>`,
        textEncoding: 'quoted-printable',
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const unsent = join(folder, `.${randomUUID()}.part`);
      try {
        await writeFile(unsent, message, { flag: 'wx', mode: 0o600 });
        return await publish(unsent, stampOf(now));
      } finally {
        await rm(unsent, { force: true });
      }
    },
  };
}

/** 20261120T140307.123Z */
function stampOf(instant: Date): string {
  return instant.toISOString().replaceAll(/[-:]/g, '');
}
