import { describe, expect, it } from 'vitest';
import { decodeText, looksLikeMail, splitMails } from '../../src/verdict-mails/mail-text.js';
import { mailOf } from './mails.js';

const one = mailOf('text/plain', 'From the hotel we heard\r\n\r\nFrom now on\r\n');

describe('An mbox', () => {
  it('is split only at its separators, and its quoting is removed', () => {
    const mbox = `From a@b.example Mon Nov 23 04:52:16 2026\n${one.replaceAll('\r\n', '\n').replace('\n\nFrom now', '\n\n>From now')}\n\nFrom MAILER-DAEMON Mon Nov 23 05:00:00 2026\nSubject: two\n\nBR-2\n`;
    const mails = splitMails(Buffer.from(mbox)).map(String);
    expect(mails).toHaveLength(2);
    expect(mails[0]).toContain('\n\nFrom now on\n');
    expect(mails[1]).toBe('Subject: two\n\nBR-2\n');
  });

  it('is recognised by its beginning: anything else is one e-mail', () => {
    expect(splitMails(Buffer.from(one))).toHaveLength(1);
    expect(splitMails(Buffer.from(''))).toHaveLength(1);
    expect(splitMails(Buffer.from('From x'))).toHaveLength(1);
  });
});

describe('Headers', () => {
  it('tell an e-mail from a list of labelled values', () => {
    expect(looksLikeMail(Buffer.from(one))).toBe(true);
    expect(looksLikeMail(Buffer.from('Received: x\n y\nWrong\nContent-Type: text/html\n\nBR-1'))).toBe(true);
    expect(looksLikeMail(Buffer.from('Booking reference: BR-1\nDate: 2026-11-20\n'))).toBe(false);
    expect(looksLikeMail(Buffer.from('a,b\n1,2\n'))).toBe(false);
  });
});

describe('A text of unknown encoding', () => {
  it('is read as UTF-8, UTF-16 with its mark, or windows-1252', () => {
    expect(decodeText(Buffer.from('Núñez'))).toBe('Núñez');
    expect(decodeText(Buffer.from('\ufeffNúñez', 'utf16le'))).toBe('Núñez');
    expect(decodeText(Buffer.from('Núñez', 'latin1'))).toBe('Núñez');
  });
});
