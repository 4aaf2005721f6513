import { describe, expect, it } from 'vitest';
import { certificateNeeds, makeCertificate } from '../../support/machine.js';
import { startSmtpServer } from '../../support/smtp-server.js';
import { trustAuthority } from '../../support/trusted-authority.js';
import { email, encodedLogin, login, open, refusalOf, send } from './channel-kit.js';

describe.skipIf(certificateNeeds !== undefined)('TLS to a mail server', () => {
  it.each([
    ['smtps', true],
    ['smtp', false],
  ])('is used for %s://, with the login only inside it', async (scheme, isImplicitTls) => {
    // To this machine, smtp:// goes in plain text. This name for it is not recognised as such.
    const host = isImplicitTls ? 'localhost' : '0.0.0.0';
    const certificate = makeCertificate('DNS:localhost,IP:0.0.0.0');
    const server = await startSmtpServer({ certificate, isImplicitTls, login });
    const smtp = `${scheme}://${encodedLogin}${host}:${server.port}`;
    trustAuthority(certificate.certificate);
    await send(await open({ ...email, smtp }));
    expect(server.emails).toMatchObject([{ isEncrypted: true, user: login.user }]);
  });

  it.each([
    ['smtps', true],
    ['smtp', false],
  ])('refuses an unknown certificate and one of another host for %s://', async (scheme, isImplicitTls) => {
    const certificate = makeCertificate('DNS:localhost');
    const server = await startSmtpServer({ certificate, isImplicitTls, login });
    const other = makeCertificate('DNS:localhost').certificate;
    for (const [host, ca] of [
      [isImplicitTls ? 'localhost' : '0.0.0.0', other],
      [isImplicitTls ? '127.0.0.1' : '0.0.0.0', certificate.certificate],
    ] as const) {
      const smtp = `${scheme}://${encodedLogin}${host}:${server.port}`;
      trustAuthority(ca);
      const refusal = await refusalOf(send(await open({ ...email, smtp })));
      expect(refusal.code).toMatch(/^(?:tls-certificate|starttls-failed)$/);
      expect(refusal.message).toMatch(/not trusted/);
      expect(refusal.shown).not.toContain('hidden');
    }
    expect(server.emails).toEqual([]);
  });
});
