import { expect, it, onTestFinished } from 'vitest';
import { mailOf } from '../cases/mails/mails.js';
import { prepareDay } from '../support/day-folder.js';
import { dovecotNeeds, imapPassword, imapUser, startDovecot } from '../support/dovecot.js';
import { certificateNeeds, makeCertificate } from '../support/machine.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { trustAuthority } from '../support/trusted-authority.js';

const needs = dovecotNeeds ?? certificateNeeds;
const bookings = makeBookings(20, { first: 1_001, checkIn: '2031-01-02', checkOut: '2031-01-09' });
const mail = (text: string, number: number) =>
  mailOf('text/plain', `${text}\r\n`).replace('<m1@', `<m${number}@`);

it.skipIf(needs)(
  'e-mails in a real mailbox open cases, each once, while serve runs and after it has started again',
  async () => {
    const { certificate, key } = makeCertificate('DNS:localhost');
    const server = await startDovecot({ certificate, key });
    onTestFinished(() => server.stop());
    trustAuthority(certificate);
    const env = { IMAP_PASSWORD: imapPassword };
    const password = '$' + '{IMAP_PASSWORD}';
    const imap = { host: 'localhost', port: server.tlsPort, user: imapUser, password };
    const { folder } = await prepareDay({
      bookings: toCsv(bookings),
      settings: {
        // Nothing starts by itself.
        schedule: { cron: '0 0 1 1 *', catchUpDays: 0 },
        verdicts: { imap, pollMinutes: 0.002 },
      },
    });
    /** Runs `serve` as a process of its own until it has said that. */
    async function serveUntil(...words: readonly string[]): Promise<string> {
      const serving = folder.start(['serve', '--port', '0'], {
        env: { ...env, NODE_EXTRA_CA_CERTS: certificate },
      });
      for (const word of words) await serving.wrote(word);
      serving.kill('SIGTERM');
      const { exitCode, stderr } = await serving.ended;
      expect(exitCode).toBe(0);
      return stderr;
    }
    const listed = async () => (await folder.run(['cases', '--json'], { env })).json;
    const hotels = (...ids: string[]) => ({ cases: ids.map((providerHotelId) => ({ providerHotelId })) });
    expect((await folder.runDay({ env })).exitCode).toBe(0);
    server.deliver(mail('Incorrect: BR-1007', 1));
    server.deliver(mail('Incorrect: BR-9999', 2));
    await serveUntil('names bookings with an incorrect mapping', 'names nothing known');
    expect(await listed()).toMatchObject(hotels('001007A'));

    server.deliver(mail('Incorrect: BR-1008', 3));
    expect(await serveUntil('names bookings with an incorrect mapping')).not.toContain('names nothing known');
    expect(await listed()).toMatchObject(hotels('001007A', '001008A'));
    const emails = ['named', 'nothing-known', 'named'].map((outcome) => ({ outcome }));
    expect((await folder.run(['verdicts', 'list', '--json'], { env })).json).toMatchObject({ emails });
    // Read-only: nothing is marked, moved or deleted.
    expect(server.listStored()).toHaveLength(3);
    expect(server.listStored().filter((name) => /:2,.*S/.test(name))).toEqual([]);
  },
);
