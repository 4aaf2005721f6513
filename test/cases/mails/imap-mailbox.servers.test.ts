import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type ImapOptions, openImapMailbox } from '../../../src/cases/mails/imap-mailbox.js';
import type { Mailbox } from '../../../src/cases/mails/mailbox.js';
import { dovecotNeeds, imapPassword, imapUser, startDovecot } from '../../support/dovecot.js';
import { type CertificateFiles, certificateNeeds, makeCertificate } from '../../support/machine.js';
import { trustAuthority } from '../../support/trusted-authority.js';
import { mailOf } from './mails.js';

beforeEach(({ skip }) => skip(dovecotNeeds !== undefined, dovecotNeeds));
beforeEach(({ skip }) => skip(certificateNeeds !== undefined, certificateNeeds));

async function start(certificate: CertificateFiles = makeCertificate('DNS:localhost')) {
  const server = await startDovecot(certificate);
  onTestFinished(() => server.stop());
  trustAuthority(certificate.certificate);
  const open = (options: Partial<ImapOptions> = {}) =>
    openImapMailbox({
      ...{ host: 'localhost', port: server.tlsPort, user: imapUser, password: imapPassword },
      ...{ folder: 'INBOX', tls: 'implicit', days: 14, clock: Date.now },
      ...options,
    });
  return { server, open };
}

async function readAll(mailbox: Mailbox) {
  const mails: { readonly text: string; readonly arrivedAt: number | undefined }[] = [];
  for await (const { bytes, arrivedAt } of mailbox.readNew(new AbortController().signal))
    mails.push({ text: String(bytes), arrivedAt });
  return mails;
}

describe('A mailbox on an IMAP server', () => {
  it('returns each e-mail once, byte for byte, and leaves it unseen', async () => {
    const { server, open } = await start();
    const first = mailOf('text/plain; charset=utf-8', 'BR-1042 Núñez\r\n', [
      'Content-Transfer-Encoding: 8bit',
    ]);
    server.deliver(first);
    const mailbox = open();
    const [mail, ...others] = await readAll(mailbox);
    expect(mail?.text).toBe(first);
    expect(others).toEqual([]);
    expect(Math.abs((mail?.arrivedAt ?? 0) - Date.now())).toBeLessThan(3_600_000);
    server.deliver(mailOf('text/plain', 'two\r\n'));
    expect((await readAll(mailbox)).map(({ text }) => text.slice(-5))).toEqual(['two\r\n']);
    expect(server.listStored().filter((name) => /:2,.*S/.test(name))).toEqual([]);
    expect(await open().probe(new AbortController().signal)).toEqual({ mails: 2 });
    expect(mailbox.location).toBe(`imap://localhost:${server.tlsPort}/INBOX`);
  });

  it('is read over STARTTLS, and refused where the certificate is not verified', async () => {
    const { server, open } = await start();
    server.deliver(mailOf('text/plain', 'one\r\n'));
    expect(await readAll(open({ tls: 'starttls', port: server.port }))).toHaveLength(1);
    const before = server.readLog();
    await expect(readAll(open({ host: '127.0.0.1' }))).rejects.toThrow(/not trusted/);
    trustAuthority(makeCertificate('DNS:localhost').certificate);
    await expect(readAll(open())).rejects.toThrow(/not trusted/);
    await expect(readAll(open({ tls: 'starttls', port: server.port }))).rejects.toThrow(/not trusted/);
    expect(server.readLog().slice(before.length)).not.toContain('Login:');
  });

  it('says what is wrong, without the password', async () => {
    const { open } = await start();
    const faultOf = (options: Partial<ImapOptions>) => readAll(open(options)).then(() => '', String);
    expect(await faultOf({ password: 'wr0ng-pa55' })).toMatch(/refused user and password$/);
    expect(await faultOf({ folder: 'Nowhere' })).toMatch(/does not have that folder, or refuses it$/);
    expect(await faultOf({ port: 1 })).toMatch(/ECONNREFUSED$/);
  }, 60_000);
});
