import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { onTestFinished } from 'vitest';
import type { CertificateFiles } from './machine.js';

export interface ReceivedEmail {
  readonly from: string;
  readonly to: readonly string[];
  /** As received. */
  readonly raw: string;
  /** Whether it came over TLS. */
  readonly isEncrypted: boolean;
  /** Who logged in. */
  readonly user: string | undefined;
}

export interface SmtpOptions {
  /** Without one it offers no STARTTLS. */
  readonly certificate?: CertificateFiles;
  /** With TLS from the start. */
  readonly isImplicitTls?: boolean;
  readonly login?: { readonly user: string; readonly password: string };
  /** The reply to recipients that are not accepted, by address. */
  readonly refused?: Readonly<Record<string, number>>;
  /** The reply to each e-mail; `never` for none. */
  readonly reply?: number | 'never';
}

/** A mail server on 127.0.0.1 until the test ends. */
export async function startSmtpServer(options: SmtpOptions = {}) {
  const server = await openSmtpServer(options);
  onTestFinished(server.close);
  return server;
}

/** A mail server on 127.0.0.1. It keeps what it was given, even what it then refused. */
export async function openSmtpServer(options: SmtpOptions = {}) {
  const { certificate, isImplicitTls = false, login, refused = {}, reply = 250 } = options;
  const emails: ReceivedEmail[] = [];
  let connections = 0;
  const refuse = (responseCode: number) =>
    // Servers often quote what they were sent.
    Object.assign(new Error(`refused; you said ${login?.password ?? ''}`), { responseCode });
  const server = new SMTPServer({
    secure: isImplicitTls,
    ...(certificate
      ? { cert: readFileSync(certificate.certificate), key: readFileSync(certificate.key) }
      : { disabledCommands: ['STARTTLS'] }),
    logger: false,
    closeTimeout: 10,
    disableReverseLookup: true,
    authOptional: login === undefined,
    allowInsecureAuth: true,
    onConnect(_session, done) {
      connections += 1;
      done();
    },
    onAuth({ username, password }, _session, done) {
      if (username === login?.user && password === login?.password) done(null, { user: username });
      else done(refuse(535));
    },
    onRcptTo({ address }, _session, done) {
      const code = refused[address];
      done(code === undefined ? null : refuse(code));
    },
    onData(stream, { envelope: { mailFrom, rcptTo }, secure, user }, done) {
      buffer(stream).then((content) => {
        emails.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          raw: String(content),
          isEncrypted: secure,
          user: typeof user === 'string' ? user : undefined,
        });
        if (reply === 'never') return;
        done(reply === 250 ? null : refuse(reply));
      }, done);
    },
  });
  // A client that refuses the certificate is an error to the server.
  server.on('error', () => {});
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return {
    port: (listening.address() as AddressInfo).port,
    emails,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
    get connections() {
      return connections;
    },
  };
}
