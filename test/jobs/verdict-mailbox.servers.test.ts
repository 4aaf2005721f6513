import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { type DayFolder, day, prepareDay } from '../support/day-folder.js';
import { dovecotNeeds, imapPassword, imapUser, startDovecot } from '../support/dovecot.js';
import { certificateNeeds, makeCertificate } from '../support/machine.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { trustAuthority } from '../support/trusted-authority.js';
import { mailOf } from '../verdict-mails/mails.js';

const needs = dovecotNeeds ?? certificateNeeds;
beforeEach(({ skip }) => skip(needs !== undefined, needs));

const bookings = makeBookings(20, { first: 1_001 }).map((booking) => ({
  ...booking,
  CheckInDate: '2031-01-02',
  CheckOutDate: '2031-01-09',
}));
const env = { IMAP_PASSWORD: imapPassword };

async function prepare() {
  const certificate = makeCertificate('DNS:localhost');
  const server = await startDovecot(certificate);
  onTestFinished(() => server.stop());
  trustAuthority(certificate.certificate);
  const password = '$' + '{IMAP_PASSWORD}';
  const { folder } = await prepareDay({
    bookings: toCsv(bookings),
    settings: {
      // Nothing starts by itself.
      schedule: { cron: '0 0 1 1 *', catchUpDays: 0 },
      verdicts: {
        imap: { host: 'localhost', port: server.tlsPort, user: imapUser, password },
        pollMinutes: 0.002,
      },
    },
  });
  return { server, folder, certificateFile: certificate.certificate };
}

const mail = (text: string, number: number) =>
  mailOf('text/plain', `${text}\r\n`).replace('<m1@', `<m${number}@`);

async function listHotels(folder: DayFolder): Promise<readonly string[]> {
  const { json } = await folder.run(['cases', '--json'], { env });
  const { cases } = json as { readonly cases: readonly { readonly providerHotelId: string }[] };
  return cases.map(({ providerHotelId }) => providerHotelId);
}

it('e-mails in a real mailbox open cases, each once, while serve runs and after it has started again', async () => {
  const { server, folder, certificateFile } = await prepare();
  /** `serve` as a process of its own. */
  async function serve() {
    const serving = folder.start(['serve', '--port', '0'], {
      env: { ...env, NODE_EXTRA_CA_CERTS: certificateFile },
    });
    await serving.wrote('"serving"');
    return {
      serving,
      url: /"url":"([^"]+)"/.exec(serving.stderr)?.[1] ?? '',
      async stop() {
        serving.kill('SIGTERM');
        expect((await serving.ended).exitCode).toBe(0);
      },
    };
  }
  async function readVerdict(reference: string) {
    const { json } = await folder.run(['show', reference, '--json'], { env });
    return (json as { readonly bookings: readonly object[] }).bookings[0];
  }
  expect((await folder.runDay({ env })).exitCode).toBe(0);
  server.deliver(mail('Incorrect: BR-1007', 1));
  const doctor = async (variables: NodeJS.ProcessEnv) => {
    const { json } = await folder.run(['doctor', '--day', day, '--json'], { env: variables });
    return (json as { readonly findings: readonly object[] }).findings;
  };
  const saying = (verdict: string, words: RegExp) =>
    expect.objectContaining({ part: 'verdicts', verdict, message: expect.stringMatching(words) });
  expect(await doctor(env)).toContainEqual(saying('ok', /: 1 e-mail$/));
  const refused = saying('wrong', /the server refused user and password/);
  expect(await doctor({ IMAP_PASSWORD: 'wr0ng-pa55' })).toContainEqual(refused);

  const first = await serve();
  await first.serving.wrote('e-mail names bookings with an incorrect mapping');
  expect(await listHotels(folder)).toEqual(['001007A']);
  expect(await (await fetch(`${first.url}/metrics`)).text()).toContain(
    'hotel_review_cases_total{event="opened"} 1',
  );
  server.deliver(mail('Incorrect: BR-9999', 2));
  await first.serving.wrote('e-mail names nothing known: somebody has to read it');
  await vi.waitFor(
    async () =>
      expect(await readVerdict('BR-1002')).toMatchObject({
        ...{ verdict: 'unknown', verdictReason: 'by-email', notNamedUntil: expect.stringMatching(/^\d{4}-/) },
      }),
    { timeout: patienceMs },
  );
  expect(await readVerdict('BR-1007')).toMatchObject({ verdict: 'incorrect' });
  await first.stop();

  server.deliver(mail('Incorrect: BR-1008', 3));
  const second = await serve();
  await second.serving.wrote('e-mail names bookings with an incorrect mapping');
  await second.stop();
  expect(second.serving.stderr).not.toContain('e-mail names nothing known');
  expect(await listHotels(folder)).toEqual(['001007A', '001008A']);
  const { json } = await folder.run(['verdicts', 'list', '--json'], { env });
  expect(json).toMatchObject({
    emails: [{ outcome: 'named' }, { outcome: 'nothing-known' }, { outcome: 'named' }],
  });
  // Read-only: nothing is marked, moved or deleted.
  expect(server.listStored()).toHaveLength(3);
  expect(server.listStored().filter((name) => /:2,.*S/.test(name))).toEqual([]);

  // A person imports the same e-mail, and one that nobody can read.
  await writeFile(join(folder.path, 'same.eml'), mail('Incorrect: BR-1007', 1).replaceAll('\r\n', '\n'));
  await writeFile(join(folder.path, 'sheet.xlsx'), Buffer.from('504b03041400000008000102', 'hex'));
  const imported = await folder.run(['verdicts', 'import', 'same.eml', 'sheet.xlsx', '--json'], { env });
  expect(imported).toMatchObject({
    exitCode: 1,
    json: { emails: [{ outcome: 'already-read' }, { outcome: 'unreadable', reason: 'no-text' }] },
  });
  expect(await listHotels(folder)).toHaveLength(2);
});
