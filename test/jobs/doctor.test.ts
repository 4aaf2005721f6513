import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { main, StoppedError } from '../../jobs/main.js';
import { businessDayAt } from '../../src/booking/business-day.js';
import type { Finding } from '../../src/examination/finding.js';
import { captureIo } from '../support/command-io.js';
import { day } from '../support/day-folder.js';
import { refusal, type StandInHandler } from '../support/http-stand-in.js';
import { bookingsHeader } from '../support/made-bookings.js';
import {
  expectSilence,
  fromEnvironment,
  guest,
  named,
  password,
  prepare,
  runDoctor,
  secrets,
} from './doctor-kit.js';

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
  const cells = `1,BR-1,${guest},Expedia,7,2026-12-01,2026-12-02`;

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
