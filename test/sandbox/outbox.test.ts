import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeQuotedPrintable } from '../support/email.js';
import { about, describeReadEmails, type EmailReader, openOutbox, wrong } from './outbox-emails.js';

/** Reads what the outbox writes: plain text in quoted-printable, headers in ASCII. */
const plainReader: EmailReader = {
  name: 'a decoder of our own',
  needs: undefined,
  async read(path) {
    const email = await readFile(path, 'latin1');
    const [head = '', ...paragraphs] = email.split('\r\n\r\n');
    const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    expect(headers['content-transfer-encoding']).toBe('quoted-printable');
    return { headers, text: decodeQuotedPrintable(paragraphs.join('\r\n\r\n')) };
  },
};

describeReadEmails(plainReader);

describe('the outbox', () => {
  it('names files by time and number, and returns what each is about', async () => {
    const { folder, outbox } = await openOutbox();
    expect(await outbox.notify({ about, incorrect: [wrong] })).toBe(
      join(folder, '20261120T140307.123Z-0001.eml'),
    );
    expect(await outbox.notify({ about: 'the request body of 14:03:07', incorrect: [wrong] })).toBe(
      join(folder, '20261120T140307.123Z-0002.eml'),
    );
  });

  it('makes e-mails readable by their owner only', async () => {
    const { folder, outbox } = await openOutbox();
    const path = await outbox.notify({ about, incorrect: [wrong] });
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('writes concurrent e-mails separately and leaves nothing else behind', async () => {
    const { folder, outbox } = await openOutbox();
    const notices = Array.from({ length: 20 }, (_, place) => `the file ${place}`);
    const emails = await Promise.all(
      notices.map((note) => outbox.notify({ about: note, incorrect: [wrong] })),
    );
    expect((await readdir(folder)).toSorted()).toEqual(emails.map((path) => basename(path)).toSorted());
    for (const [place, path] of emails.entries())
      expect(await readFile(path, 'utf8')).toContain(`${notices[place]} found`);
  });

  it('reports an unusable folder', async () => {
    const { folder, outbox } = await openOutbox();
    await outbox.notify({ about, incorrect: [wrong] });
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    await expect(outbox.notify({ about, incorrect: [wrong] })).rejects.toThrow(/EEXIST|ENOTDIR/);
  });
});
