import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { main, StoppedError } from '../../jobs/main.js';
import { businessDayAt } from '../../src/booking/business-day.js';
import type { Finding } from '../../src/examination/finding.js';
import { captureIo } from '../support/command-io.js';
import { createDayFolder, type DayFolder, day, type Settings } from '../support/day-folder.js';
import { sftpSettings } from '../support/file-day.js';
import { refusal, type StandInHandler, startStandIn } from '../support/http-stand-in.js';
import { bookingsHeader, csvOf } from '../support/made-bookings.js';
import { openSsh, proFtpd } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const guest = 'Canaria Zwitscherfink';
const secrets = {
  HOTEL_REVIEW_API_KEY: 'canary-key-5f0c7e3b',
  HOTEL_REVIEW_ACCOUNT_ID: 'canary-account-91d4',
};
const fromEnvironment = {
  service: { apiKey: `\${HOTEL_REVIEW_API_KEY}`, accountId: `\${HOTEL_REVIEW_ACCOUNT_ID}` },
};

interface Wanted {
  readonly day?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
}

/** The doctor's text, its JSON, and the findings in that. */
async function runDoctor(folder: DayFolder, wanted: Wanted = {}) {
  const { env = secrets, signal = new AbortController().signal } = wanted;
  const { io, stdout: output, stderr: errors } = captureIo({ env, signal });
  const words = ['doctor', wanted.day ?? day, '--json', '--config', folder.configurationFile];
  const exitCode = await main(words, io);
  const report = JSON.parse(output.text()) as { ok: boolean; findings: Finding[] };
  expect(output.lines()).toHaveLength(1);
  expect(report.ok).toBe(exitCode === 0);
  const verdictsOf = (part: string) =>
    report.findings.filter((finding) => finding.part === part).map(({ verdict }) => verdict);
  return { exitCode, text: errors.text(), written: output.text() + errors.text(), report, verdictsOf };
}

async function prepare(settings: Settings, handler?: StandInHandler, bookings: string = csvOf(9)) {
  const standIn = await startStandIn(handler);
  onTestFinished(() => standIn.close());
  const folder = await createDayFolder({ baseUrl: standIn.baseUrl, bookings, settings });
  chmodSync(folder.configurationFile, 0o600);
  return { standIn, folder };
}

const partsInOrder = [
  'configuration',
  'file-modes',
  'clock',
  'source',
  'service',
  'sftp',
  'ledger',
  'archive',
  'spool',
  'verdicts',
  'notify',
  'disk',
];

describe('a configuration for delivery by body', () => {
  it('is valid in every part, and nothing is created', async () => {
    const { standIn, folder } = await prepare(fromEnvironment, () => refusal(2021));
    const before = readdirSync(folder.path);
    const { exitCode, report, text } = await runDoctor(folder);
    expect(report.findings.filter(({ verdict }) => verdict === 'wrong')).toEqual([]);
    expect(exitCode).toBe(0);
    expect([...new Set(report.findings.map(({ part }) => part))]).toEqual(partsInOrder);
    expect(text).toContain('ok       sftp           not configured; needed for file delivery only\n');
    expect(text.split('\n').at(-2)).toMatch(/^\d+ ok, \d+ warnings?, 0 wrong$/);
    expect(standIn.requests).toHaveLength(1);
    expect(standIn.requests[0]?.body.toString()).toBe('{"Hotels":[]}');
    expect(readdirSync(folder.path)).toEqual(before);
  });

  it('has every part checked, whatever is wrong', async () => {
    const { folder } = await prepare(fromEnvironment, () => ({ kind: 'text', status: 401, body: '' }));
    writeFileSync(join(folder.path, 'data'), 'a file in the way');
    const { exitCode, report, verdictsOf } = await runDoctor(folder, { day: '2026-11-19' });
    expect(exitCode).toBe(2);
    expect([...new Set(report.findings.map(({ part }) => part))]).toEqual(partsInOrder);
    for (const part of ['source', 'service', 'ledger', 'archive', 'spool'])
      expect([part, verdictsOf(part)]).toEqual([part, ['wrong']]);
  });

  it('is checked with the given day, and reports which day run would take', async () => {
    const { folder } = await prepare(fromEnvironment);
    const yesterday = businessDayAt(new Date(), 'Europe/Madrid').previous().iso;
    const { report } = await runDoctor(folder, { day: '2026-11-18' });
    expect(report.findings.find(({ part }) => part === 'clock')?.message).toContain(`run takes ${yesterday}`);
    expect(report.findings.find(({ part }) => part === 'source')?.message).toContain(
      'bookings-2026-11-18.csv',
    );
  });

  it('warns of a clock that differs from the service’s', async () => {
    const { folder } = await prepare(fromEnvironment, () => ({
      kind: 'json',
      headers: { date: 'Fri, 20 Nov 2020 02:28:00 GMT' },
      body: { Status: false, StatusCode: 2021 },
    }));
    // The second warning is about the deadline that is not set.
    expect((await runDoctor(folder)).verdictsOf('clock')).toEqual(['ok', 'warning', 'warning']);
  });

  it('warns of files that others can read, before the ledger restricts them', async () => {
    const { folder } = await prepare({});
    expect((await folder.runDay()).exitCode).toBe(0);
    for (const file of [folder.configurationFile, folder.ledgerFile]) chmodSync(file, 0o644);
    writeFileSync(join(folder.path, '.env'), '', { mode: 0o644 });
    const { exitCode, report, verdictsOf } = await runDoctor(folder);
    expect(exitCode).toBe(0);
    const modes = report.findings.filter(({ part }) => part === 'file-modes');
    expect(modes.map(({ advice }) => advice)).toEqual(
      [folder.configurationFile, join(folder.path, '.env'), folder.ledgerFile].map(
        (path) => `chmod 600 ${path}`,
      ),
    );
    expect(verdictsOf('configuration')).toEqual(['ok', 'warning']);
    expect(report.findings.find(({ part }) => part === 'ledger')?.message).toContain(`${day}: succeeded`);
  });

  it('stops on a signal, though the service hangs', async () => {
    const { standIn, folder } = await prepare(fromEnvironment, () => ({ kind: 'hang' }));
    const controller = new AbortController();
    const { io, stdout } = captureIo({ env: secrets, signal: controller.signal });
    const running = main(['doctor', day, '--json', '--config', folder.configurationFile], io);
    await standIn.received(1);
    controller.abort(new StoppedError('SIGINT'));
    expect(await running).toBe(1);
    expect(JSON.parse(stdout.text())).toMatchObject({ error: { class: 'stopped' } });
  });

  it('ends by itself when the service hangs', async () => {
    const { folder } = await prepare(
      { ...fromEnvironment, service: { ...fromEnvironment.service, timeoutSeconds: 0.3 } },
      () => ({
        kind: 'hang',
      }),
    );
    const { exitCode, verdictsOf } = await runDoctor(folder);
    expect(exitCode).toBe(2);
    expect(verdictsOf('service')).toEqual(['wrong']);
    expect(verdictsOf('disk')).not.toEqual([]);
  });
});

describe('a configuration that is wrong', () => {
  it('is reported problem by problem, and checks that need it are skipped', async () => {
    const { standIn, folder } = await prepare({ ...fromEnvironment, bdy: 1, timezone: 'Nowhere' });
    const { exitCode, report, verdictsOf } = await runDoctor(folder);
    expect(exitCode).toBe(2);
    expect(verdictsOf('configuration')).toEqual(['wrong', 'wrong', 'warning']);
    expect([...new Set(report.findings.map(({ part }) => part))]).toEqual(['configuration', 'file-modes']);
    expect(standIn.connections).toBe(0);
  });

  it('may be missing', async () => {
    const { folder } = await prepare({});
    const { exitCode, report } = await runDoctor({
      ...folder,
      configurationFile: join(folder.path, 'none.yaml'),
    });
    expect(exitCode).toBe(2);
    expect(report.findings[0]?.message).toContain('there is no such file');
  });
});

describe('a configuration for delivery by file', () => {
  const server = useSftpServer(openSsh);

  it('is valid, and leaves only the folder of the month on the server', async () => {
    const { folder } = await prepare({
      ...fromEnvironment,
      delivery: 'file',
      file: sftpSettings(server(), server().port),
    });
    const { exitCode, report, verdictsOf } = await runDoctor(folder);
    expect(report.findings.filter(({ verdict }) => verdict === 'wrong')).toEqual([]);
    expect(exitCode).toBe(0);
    expect(verdictsOf('sftp')).toEqual(['ok', 'ok', 'ok']);
    const month = businessDayAt(new Date(), 'Europe/Madrid').previous().mmyyyy;
    expect(await readdir(server().disk(''), { recursive: true })).toEqual([
      'VerifyMappings',
      join('VerifyMappings', month),
    ]);
  });

  it('without a pinned host key is shown the one that the server presents, and how to pin it', async () => {
    const { sftp } = sftpSettings(server(), server().port) as { sftp: Settings };
    const { hostKey: _, ...others } = sftp;
    const { standIn, folder } = await prepare({
      ...fromEnvironment,
      delivery: 'file',
      file: { sftp: others },
    });
    const { exitCode, report } = await runDoctor(folder);
    expect(exitCode).toBe(2);
    const found = report.findings.filter(({ part }) => part === 'sftp');
    expect(found).toEqual([
      expect.objectContaining({
        verdict: 'wrong',
        advice: expect.stringMatching(/^Ask its operator .* set file\.sftp\.hostKey: "SHA256:/),
      }),
    ]);
    expect(server().fingerprints.some((one) => found[0]?.advice?.includes(one))).toBe(true);
    expect(standIn.connections).toBe(0);
  });

  it.each([
    ['alone', undefined, ['source']],
    ['next to that of the review file', 'not pinned either', ['source', 'sftp']],
  ])('whose source is an SFTP drop without a pinned host key shows the key, %s', async (_, other, parts) => {
    const { sftp } = sftpSettings(server(), server().port) as { sftp: Settings };
    const { hostKey: _hostKey, ...unpinned } = sftp;
    const { host, port, root: _root, ...account } = unpinned;
    const { standIn, folder } = await prepare({
      ...fromEnvironment,
      file: { sftp: other === undefined ? sftp : { ...unpinned, hostKey: other } },
      source: { path: `sftp://${host}:${port}/out/{day}.csv`, sftp: account },
    });
    const { exitCode, report, written } = await runDoctor(folder);
    expect(exitCode).toBe(2);
    const found = report.findings.filter(({ message }) => message.includes('presents the host key'));
    expect(found.map(({ part }) => part).sort()).toEqual([...parts].sort());
    for (const { part, advice } of found) {
      const setting = part === 'source' ? 'source.sftp.hostKey' : 'file.sftp.hostKey';
      expect(advice).toContain(`set ${setting}: "SHA256:`);
      expect(server().fingerprints.some((one) => advice?.includes(one))).toBe(true);
    }
    expect(written).not.toContain(String(account.privateKeyFile));
    expect(standIn.connections).toBe(0);
  });
});

it('the command ends with its exit code when the source is a FIFO', async () => {
  const { folder } = await prepare(fromEnvironment, () => refusal(2021));
  unlinkSync(folder.bookingsFile);
  execFileSync('mkfifo', [folder.bookingsFile]);
  const ended = await folder.run(['doctor', '--day', day, '--json'], { env: secrets });
  expect([ended.exitCode, ended.signal]).toEqual([2, null]);
  const { findings } = ended.json as { readonly findings: readonly Finding[] };
  expect(findings.filter(({ verdict }) => verdict === 'wrong').map(({ message }) => message)).toEqual([
    `${folder.bookingsFile} is a FIFO, expected a file`,
  ]);
});

describe('guests and secrets do not leak', () => {
  const server = useSftpServer(proFtpd);
  const password = 'canary-password-77aa';
  const named = csvOf(9).replaceAll(/Guest \d/g, guest);
  const cells = `1,BR-1,${guest},Expedia,7,2026-12-01,2026-12-02`;

  function expectSilence({ written }: { readonly written: string }): void {
    const words = [guest, ...guest.split(' '), password, ...Object.values(secrets)];
    expect(words.filter((word) => written.includes(word))).toEqual([]);
  }

  it.each([
    ['a good day', named],
    ['no header', `${cells}\n${cells}\n`],
    ['the name instead of the id', `${bookingsHeader}\n${guest},BR-1,x,y,z,,\n`],
    ['a quote that is never closed', `${bookingsHeader}\n1,BR-1,"${guest},Expedia\n`],
  ])('whatever the source holds: %s', async (_, bookings) => {
    const echo: StandInHandler = (request) => ({
      kind: 'json',
      body: { Status: false, StatusCode: 2003, Message: `${guest} ${request.rawHeaders.join(' ')}` },
    });
    const { folder } = await prepare(fromEnvironment, echo, bookings);
    expectSilence(await runDoctor(folder));
  });

  it.each([
    ['that is refused', password],
    ['that is accepted', undefined],
  ])('with a password of the SFTP server %s', async (_, wrongPassword) => {
    const { login } = server();
    const { sftp } = sftpSettings(server(), server().port) as { sftp: Settings };
    const settings = { ...sftp, password: `\${SFTP_PASSWORD}` };
    const { folder } = await prepare({ ...fromEnvironment, file: { sftp: settings } }, undefined, named);
    const env = { ...secrets, SFTP_PASSWORD: wrongPassword ?? login.password };
    const result = await runDoctor(folder, { env });
    expect(result.exitCode).toBe(wrongPassword === undefined ? 0 : 2);
    expectSilence(result);
    expect(result.written).not.toContain(login.password);
  });

  it('in invalid settings', async () => {
    const url = `https://user:${password}@service.example.com/api/3.0`;
    const { folder } = await prepare({ service: { ...fromEnvironment.service, baseUrl: url } });
    expectSilence(await runDoctor(folder));
    await folder.configure({ service: { timeoutSeconds: `\${HOTEL_REVIEW_API_KEY}` } });
    expectSilence(await runDoctor(folder));
    await folder.configure({ service: { apiKey: password } });
    expectSilence(await runDoctor(folder));
  });
});
