import { randomUUID } from 'node:crypto';
import { link, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { hasCode } from '../common/errors.js';

export interface Email {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly attachments?: readonly Attachment[];
}

export interface Attachment {
  readonly filename: string;
  readonly content: Buffer;
  readonly contentType: string;
}

/** Writes e-mails to the outbox folder. Nothing is ever sent. */
export interface Mailer {
  /**
   * Writes an e-mail as an `.eml` file, complete or not at all. Concurrent calls don't disturb each other.
   *
   * @returns its path
   * @throws a system error when the folder can't be written
   */
  post(email: Email): Promise<string>;
}

export interface MailerOptions {
  /** Created when missing, with mode 0700: e-mails name guests. */
  readonly folder: string;
  readonly from: string;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** Names files by time and number, `20261120T140307.123Z-0001.eml`, with mode 0600. */
export function createMailer({ folder, from, clock }: MailerOptions): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  let emails = 0;

  /** Moves a finished e-mail to the next free name: another process may use the same folder. */
  async function publish(draft: string, stamp: string): Promise<string> {
    for (;;) {
      emails += 1;
      const path = join(folder, `${stamp}-${String(emails).padStart(4, '0')}.eml`);
      try {
        await link(draft, path);
        return path;
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error;
      }
    }
  }

  return {
    async post(email) {
      const now = new Date(clock());
      const { message } = await transport.sendMail({
        ...email,
        attachments: [...(email.attachments ?? [])],
        from,
        date: now,
        messageId: `<${randomUUID()}@sandbox.invalid>`,
        textEncoding: 'quoted-printable',
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const draft = join(folder, `.${randomUUID()}.part`);
      try {
        await writeFile(draft, message, { flag: 'wx', mode: 0o600 });
        return await publish(draft, stampOf(now));
      } finally {
        await rm(draft, { force: true });
      }
    },
  };
}

/** 20261120T140307.123Z */
function stampOf(instant: Date): string {
  return instant.toISOString().replaceAll(/[-:]/g, '');
}
