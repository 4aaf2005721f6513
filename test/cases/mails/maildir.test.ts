import { mkdirSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { FoundMail } from '../../../src/cases/mails/mailbox.js';
import { openMaildir, splitMails } from '../../../src/cases/mails/maildir.js';
import { describeMailbox, readAll } from '../../contracts/mailbox.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { mailOf } from './mails.js';

function makeMaildir(): string {
  const folder = makeTemporaryFolder();
  for (const name of ['new', 'cur', 'tmp']) mkdirSync(join(folder, name));
  return folder;
}

describeMailbox('A maildir', async () => {
  const folder = makeMaildir();
  let now = Date.now();
  return {
    mailbox: openMaildir(folder, () => now),
    put: (number, text = '') => writeFileSync(join(folder, 'new', `${number}.a.host`), text),
    remove: (number) => rmSync(join(folder, 'new', `${number}.a.host`)),
    pass(ms) {
      now += ms;
    },
  };
});

describe('A maildir', () => {
  it('returns each e-mail once, even after somebody has seen it, and changes nothing', async () => {
    const folder = makeMaildir();
    writeFileSync(join(folder, 'new', '1.a.host'), 'one');
    writeFileSync(join(folder, 'tmp', '2.b.host'), 'half');
    const mailbox = openMaildir(folder, Date.now);
    expect(await readAll(mailbox)).toEqual(['one']);
    renameSync(join(folder, 'new', '1.a.host'), join(folder, 'cur', '1.a.host:2,S'));
    writeFileSync(join(folder, 'cur', '3.c.host:2,'), 'two');
    expect(await readAll(mailbox)).toEqual(['two']);
    expect(readdirSync(join(folder, 'cur'))).toEqual(['1.a.host:2,S', '3.c.host:2,']);
    expect(await mailbox.probe(new AbortController().signal)).toEqual({ mails: 2 });
  });

  it('returns an e-mail that somebody moves meanwhile the next time', async () => {
    const folder = makeMaildir();
    for (const name of ['1.a.host', '2.b.host']) writeFileSync(join(folder, 'new', name), name);
    const mailbox = openMaildir(folder, Date.now);
    const texts: string[] = [];
    for await (const { bytes } of mailbox.readNew(new AbortController().signal)) {
      texts.push(String(bytes));
      renameSync(join(folder, 'new', '2.b.host'), join(folder, 'cur', '2.b.host:2,S'));
    }
    expect(texts).toEqual(['1.a.host']);
    expect(await readAll(mailbox)).toEqual(['2.b.host']);
  });

  it('gives only the beginning of an e-mail that is too large, and nobody the name of its file', async () => {
    const folder = makeMaildir();
    const large = join(folder, 'new', '1.told.host');
    writeFileSync(large, 'From: a@b.example\n\n');
    truncateSync(large, 25 * 1024 * 1024 + 1);
    writeFileSync(join(folder, 'new', '2.a.host'), 'two');
    const found: FoundMail[] = [];
    for await (const mail of openMaildir(folder, Date.now).readNew(new AbortController().signal))
      found.push(mail);
    const [first, second] = found;
    expect(first).toMatchObject({ from: folder, fault: 'too-large', key: expect.any(String) });
    expect(first?.bytes).toBeUndefined();
    expect(first?.head).toHaveLength(256 * 1024);
    expect(String(first?.head)).toMatch(/^From: a@b\.example/);
    expect(second).toMatchObject({ from: folder, bytes: Buffer.from('two') });
    expect(JSON.stringify({ ...first, key: undefined, head: undefined })).not.toContain('told');
  });

  it.each([
    ['empty', Buffer.alloc(0)],
    ['a compressed file that is cut off', gzipSync(mailOf('text/plain', 'one')).subarray(0, -20)],
    ['compressed in a way that is not known', Buffer.from('28b52ffd0458112a01114011', 'hex')],
  ])('says of a file that is %s that it was not fetched: nobody knows who sent it', async (_, bytes) => {
    const folder = makeMaildir();
    writeFileSync(join(folder, 'new', '1.a.host'), bytes);
    writeFileSync(join(folder, 'new', '2.a.host'), 'two');
    expect(await readAll(openMaildir(folder, Date.now))).toEqual(['not-fetched', 'two']);
  });

  it('decompresses a file that the mail server has compressed, up to the limit', async () => {
    const folder = makeMaildir();
    writeFileSync(join(folder, 'cur', '1.a.host:2,S'), gzipSync(mailOf('text/plain', 'Incorrect: BR-1\n')));
    const large = Buffer.concat([Buffer.from('From: a@b.example\n\n'), Buffer.alloc(200 * 1024 * 1024, 'x')]);
    writeFileSync(join(folder, 'cur', '2.a.host:2,S'), gzipSync(large, { level: 1 }));
    const found: FoundMail[] = [];
    for await (const mail of openMaildir(folder, Date.now).readNew(new AbortController().signal))
      found.push(mail);
    expect(String(found[0]?.bytes)).toContain('Incorrect: BR-1');
    expect(found[1]).toMatchObject({ fault: 'too-large' });
    expect(String(found[1]?.head)).toMatch(/^From: a@b\.example/);
  });

  it('that is missing is refused with its path', async () => {
    await expect(readAll(openMaildir('/nowhere/mail', Date.now))).rejects.toThrow(
      "/nowhere/mail can't be read (ENOENT)",
    );
  });
});

it('An mbox is split only at its separators, and its quoting is removed', () => {
  const one = mailOf('text/plain', 'From the hotel we heard\r\n\r\n>From now on\r\n').replaceAll(
    '\r\n',
    '\n',
  );
  const mbox = `From a@b.example Mon Nov 23 04:52:16 2026\n${one}\n\nFrom MAILER-DAEMON Mon Nov 23 05:00:00 2026\nSubject: two\n\nBR-2\n`;
  const mails = splitMails(Buffer.from(mbox)).map(String);
  expect(mails).toHaveLength(2);
  expect(mails[0]).toContain('From the hotel we heard\n\nFrom now on\n');
  expect(mails[1]).toBe('Subject: two\n\nBR-2\n');
});
