import { describe, expect, it } from 'vitest';
import { splitMails } from '../../../src/cases/mails/maildir.js';
import { mailOf, readNames } from './mails.js';

const one = mailOf('text/plain', 'From the hotel we heard\r\n\r\nFrom now on\r\n');

describe('An mbox', () => {
  it('is split only at its separators, and its quoting is removed', () => {
    const mbox = `From a@b.example Mon Nov 23 04:52:16 2026\n${one.replaceAll('\r\n', '\n').replace('\n\nFrom now', '\n\n>From now')}\n\nFrom MAILER-DAEMON Mon Nov 23 05:00:00 2026\nSubject: two\n\nBR-2\n`;
    const mails = splitMails(Buffer.from(mbox)).map(String);
    expect(mails).toHaveLength(2);
    expect(mails[0]).toContain('\n\nFrom now on\n');
    expect(mails[1]).toBe('Subject: two\n\nBR-2\n');
  });
});

describe('Headers', () => {
  it('tell an e-mail from a list of labelled values', async () => {
    const html = (...headers: string[]) => [...headers, '', '<p>BR-<wbr>1042</p>'].join('\n');
    const isMail = async (text: string) =>
      (await readNames(text, [{ bookingReferenceId: 'BR-1042' }])).named.length > 0;
    expect(await isMail(html('Received: x', ' y', 'Wrong', 'Content-Type: text/html'))).toBe(true);
    expect(await isMail(html('Booking: x', 'Date: 2026-11-20'))).toBe(false);
    expect(await isMail(html('a,b', '1,2'))).toBe(false);
  });
});

describe('A text of unknown encoding', () => {
  it('is read as UTF-8, UTF-16 with its mark, or windows-1252', async () => {
    for (const bytes of [
      Buffer.from('Núñez-1'),
      Buffer.from('\ufeffNúñez-1', 'utf16le'),
      Buffer.from('Núñez-1', 'latin1'),
    ])
      expect((await readNames(bytes, [{ bookingReferenceId: 'Núñez-1' }])).named).toEqual(['Núñez-1']);
  });
});
