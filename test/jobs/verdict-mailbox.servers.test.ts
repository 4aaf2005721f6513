import { once } from 'node:events';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { sign, yesterday } from '../many-machines/serving.js';
import type { CalledCommand } from '../support/command.js';
import { type DayFolder, day, prepareDay, type Settings } from '../support/day-folder.js';
import { dovecotNeeds, imapPassword, imapUser, startDovecot } from '../support/dovecot.js';
import { hookSecret } from '../support/hook-secrets.js';
import { certificateNeeds, makeCertificate } from '../support/machine.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { trustAuthority } from '../support/trusted-authority.js';
import { mailOf } from '../verdict-mails/mails.js';

const bookings = makeBookings(20, { first: 1_001 }).map((booking) => ({
  ...booking,
  CheckInDate: '2031-01-02',
  CheckOutDate: '2031-01-09',
}));
const env = { IMAP_PASSWORD: imapPassword };
const often = 0.002;

async function prepare(verdicts: Settings, options: Settings = {}): Promise<DayFolder> {
  const settings = { schedule: { catchUpDays: 1, cron: '0 0 1 1 *' }, verdicts, ...options };
  const { folder } = await prepareDay({ bookings: toCsv(bookings), settings, hasWorkers: false });
  return folder;
}

/** `serve` in this process; stopped when the test ends. */
async function serve(folder: DayFolder): Promise<CalledCommand & { readonly url: string }> {
  const command = folder.call(['serve', '--port', '0'], { env });
  await command.wrote('"serving"');
  const url = /"url":"([^"]+)"/.exec(command.stderr)?.[1] ?? '';
  return Object.assign(command, { url });
}

async function stop(command: CalledCommand): Promise<void> {
  command.stop('SIGTERM');
  expect((await command.ended).exitCode).toBe(0);
}

async function listHotels(folder: DayFolder): Promise<readonly string[]> {
  const { json } = await folder.run(['cases', '--json'], { env });
  return (json as { cases: { providerHotelId: string }[] }).cases.map(
    ({ providerHotelId }) => providerHotelId,
  );
}

/** What doctor says about a mailbox. */
async function askDoctor(folder: DayFolder, verdicts: Settings, variables = env) {
  await folder.configure({ verdicts });
  const { exitCode, json } = await folder.run(['doctor', '--day', day, '--json'], { env: variables });
  const { findings } = json as { findings: { part: string; verdict: string; message: string }[] };
  const found = findings.filter(({ part }) => part === 'verdicts');
  return {
    ...{ exitCode, found: found.length, verdict: found[0]?.verdict, message: found[0]?.message },
    findings: found,
  };
}

const mails = (...references: readonly string[]) =>
  references.map((reference, index) =>
    mailOf('text/plain', `Incorrect: ${reference}\r\n`).replace('<m1@', `<m${index + 2}@`),
  );

describe('a mailbox on an IMAP server', () => {
  const needs = dovecotNeeds ?? certificateNeeds;
  beforeEach(({ skip }) => skip(needs !== undefined, needs));

  async function start() {
    const certificate = makeCertificate('DNS:localhost');
    const server = await startDovecot(certificate);
    onTestFinished(() => server.stop());
    const imap = {
      ...{ host: 'localhost', port: server.tlsPort, user: imapUser, password: '$' + '{IMAP_PASSWORD}' },
    };
    trustAuthority(certificate.certificate);
    return { server, imap };
  }

  it('is read by serve: what arrives opens a case, once, even after a restart', async () => {
    const { server, imap } = await start();
    const folder = await prepare({ imap, pollMinutes: often });
    expect((await folder.runDay({ env })).exitCode).toBe(0);
    const [first = '', second = '', unknown = ''] = mails('BR-1007', 'BR-1008', 'BR-9999');
    server.deliver(first);
    const serving = await serve(folder);
    await serving.wrote('e-mail names bookings with an incorrect mapping');
    expect(await listHotels(folder)).toEqual(['001007A']);
    const metrics = async () => (await fetch(`${serving.url}/metrics`)).text();
    expect(await metrics()).toContain('hotel_review_cases_total{event="opened"} 1');
    server.deliver(unknown);
    await serving.wrote('e-mail names nothing known: somebody has to read it');
    await stop(serving);
    server.deliver(second);
    const again = await serve(folder);
    await again.wrote('e-mail names bookings with an incorrect mapping');
    await stop(again);
    expect(again.stderr).not.toContain('e-mail names nothing known');
    expect(await listHotels(folder)).toEqual(['001007A', '001008A']);
    const { json } = await folder.run(['verdicts', 'list', '--json'], { env });
    expect(json).toMatchObject({
      emails: [{ outcome: 'named' }, { outcome: 'nothing-known' }, { outcome: 'named' }],
    });
    // Read-only: nothing is marked, moved or deleted.
    expect(server.listStored()).toHaveLength(3);
    expect(server.listStored().filter((name) => /:2,.*S/.test(name))).toEqual([]);
  });

  it('is tried by doctor, which says what is wrong', async () => {
    const { server, imap } = await start();
    server.deliver(mailOf('text/plain', 'x'));
    const folder = await prepare({ imap });
    const look = (changes: Settings, variables = env) =>
      askDoctor(folder, { imap: { ...imap, ...changes } }, variables);
    expect(await look({})).toMatchObject({ verdict: 'ok', message: expect.stringMatching(/: 1 e-mail$/) });
    expect(await look({}, { IMAP_PASSWORD: 'wr0ng-pa55' })).toMatchObject({
      ...{ exitCode: 2, verdict: 'wrong' },
      message: expect.stringContaining('the server refused user and password'),
    });
    expect(await look({ folder: 'Nowhere' })).toMatchObject({
      ...{ exitCode: 2, verdict: 'wrong' },
      message: expect.stringContaining('does not have that folder'),
    });
  });
});

it('a maildir and a folder are tried by doctor, and nothing is tried if none is configured', async () => {
  const folder = await prepare({});
  // Only the warning that nobody reads the verdicts.
  expect(await askDoctor(folder, {})).toMatchObject({ exitCode: 0, found: 1, verdict: 'warning' });
  for (const name of ['new', 'cur']) await mkdir(join(folder.path, 'mail', name), { recursive: true });
  await writeFile(join(folder.path, 'mail', 'new', '1.a.host'), mailOf('text/plain', 'x'));
  await writeFile(join(folder.path, 'mail', 'cur', '2.a.host:2,S'), mailOf('text/plain', 'y'));
  const from = ['@service.example'];
  expect(await askDoctor(folder, { maildir: './mail', from })).toMatchObject({
    ...{ exitCode: 0, found: 1, verdict: 'ok' },
    message: expect.stringMatching(/mail can be read: 2 e-mails$/),
  });
  expect(await askDoctor(folder, { maildir: './inbox', from })).toMatchObject({
    ...{ exitCode: 2, found: 1, verdict: 'wrong' },
    message: expect.stringContaining("inbox can't be read (ENOENT)"),
  });
});

it('doctor warns if anybody can open cases', async () => {
  const folder = await prepare({});
  for (const part of ['new', 'cur']) await mkdir(join(folder.path, 'inbox', part), { recursive: true });
  const warn = async (verdicts: Settings) => {
    const { findings } = await askDoctor(folder, verdicts);
    return findings.filter(({ verdict }) => verdict === 'warning').map(({ message }) => message);
  };
  expect(await warn({ maildir: './inbox' })).toEqual([expect.stringContaining("anybody's e-mails count")]);
});

describe('serve', () => {
  it('reports an unavailable mailbox once, and continues the reviews', async () => {
    let connections = 0;
    const refusing = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void refusing.close());
    await once(refusing, 'listening');
    const { port } = refusing.address() as AddressInfo;
    const imap = { host: '127.0.0.1', port, user: 'u', password: '$' + '{IMAP_PASSWORD}', tls: 'none' };
    const folder = await prepare({ imap, pollMinutes: often }, { hook: { secret: hookSecret } });
    await folder.writeBookings(toCsv(bookings), yesterday.iso);
    const serving = await serve(folder);
    await serving.wrote("mailbox can't be read: it is tried again");
    const body = JSON.stringify({ day: yesterday.iso });
    const answer = await fetch(`${serving.url}/hooks/end-of-day`, {
      method: 'POST',
      headers: sign(body),
      body,
    });
    expect(answer.status).toBe(202);
    await serving.wrote('"run settled"');
    const before = connections;
    await vi.waitUntil(() => connections >= before + 3, { timeout: patienceMs, interval: 5 });
    expect(serving.stderr.match(/mailbox can't be read/g)).toHaveLength(1);
    await stop(serving);
    expect(serving.stderr).toContain('"state":"succeeded"');
  });

  it('reads a maildir, and one that appears later', async () => {
    const folder = await prepare({ maildir: './mail', pollMinutes: often });
    expect((await folder.runDay()).exitCode).toBe(0);
    for (const name of ['new', 'cur', 'tmp'])
      await mkdir(join(folder.path, 'mail', name), { recursive: true });
    const [first = '', second = ''] = mails('BR-1003', 'BR-1004');
    const deliver = async (text: string, name: string) => {
      await writeFile(join(folder.path, 'mail', 'tmp', name), text);
      await rename(join(folder.path, 'mail', 'tmp', name), join(folder.path, 'mail', 'new', name));
    };
    const serving = await serve(folder);
    await deliver(first, '1.a.host');
    await serving.wrote('e-mail names bookings');
    await stop(serving);
    expect(await listHotels(folder)).toEqual(['001003A']);

    await folder.configure({ verdicts: { maildir: './inbox', pollMinutes: often } });
    const later = await serve(folder);
    await later.wrote("mailbox can't be read: it is tried again");
    for (const part of ['cur', 'new']) await mkdir(join(folder.path, 'inbox', part), { recursive: true });
    await later.wrote('"mailbox back"');
    await writeFile(join(folder.path, 'inbox', '.b'), second);
    await rename(join(folder.path, 'inbox', '.b'), join(folder.path, 'inbox', 'new', 'b'));
    await later.wrote('e-mail names bookings');
    await stop(later);
    expect(await listHotels(folder)).toEqual(['001003A', '001004A']);
  });
});
