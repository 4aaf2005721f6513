import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { day } from '../support/day-folder.js';
import { expectNoLeak } from '../support/leaks.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { startProgram } from '../support/program.js';
import {
  callSandbox,
  callService,
  command,
  createFolder,
  makeDayIn,
  occupy,
  putReviewFile,
  renderReviewFile,
  runIn,
  sumTold,
} from '../support/sandbox-command.js';

async function readConfiguration(path: string) {
  const { service, file } = parseYaml(await readFile(path, 'utf8')) as {
    service: { baseUrl: string };
    file: { sftp: { port: number; hostKey: string } };
  };
  return { baseUrl: service.baseUrl, port: file.sftp.port, fingerprint: file.sftp.hostKey };
}

describe('hotel-review sandbox', () => {
  it('prints its addresses as one line of JSON, and writes a configuration readable by its owner only', async () => {
    const folder = await createFolder();
    const { addresses } = await callSandbox(folder, '--port', '0', '--sftp-port', '0');
    expect(addresses).toEqual({
      service: {
        baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/3\.0$/),
        apiKey: expect.any(String),
        accountId: expect.any(String),
      },
      sftp: {
        host: '127.0.0.1',
        port: expect.any(Number),
        fingerprint: expect.stringMatching(/^SHA256:[\w+/]{43}$/),
        root: join(folder, 'sftp'),
        username: expect.any(String),
        password: expect.any(String),
      },
      outbox: join(folder, 'outbox', 'new'),
      folder,
      configuration: join(folder, 'sandbox.yaml'),
    });
    expect((await stat(addresses.configuration)).mode & 0o777).toBe(0o600);
    expect(await readConfiguration(addresses.configuration)).toEqual({
      baseUrl: addresses.service.baseUrl,
      port: addresses.sftp.port,
      fingerprint: addresses.sftp.fingerprint,
    });
  });

  it('prints no guest name when it refuses calls and files that contain them', async () => {
    const guest = 'Canaria Zwitscherfink';
    const folder = await createFolder();
    const sandbox = await callSandbox(folder);
    const { addresses } = sandbox;
    const broken = [
      [{ ...makeBookings(1)[0], CheckInDate: guest }],
      [{ ...makeBookings(1)[0], [guest]: 1 }],
      [{ ...makeBookings(1)[0], ServiceId: guest }],
    ];
    for (const hotels of broken)
      expect(await (await callService(addresses, hotels)).json()).toMatchObject({ StatusCode: 2009 });
    const brokenFiles = [
      renderReviewFile(`${guest},${guest}`),
      renderReviewFile(`"${guest}`),
      renderReviewFile().replace('BookingClientName', guest),
      renderReviewFile(guest).replace('20112026', guest),
    ];
    for (const file of brokenFiles) {
      await putReviewFile(addresses, file);
      expect(await (await callService(addresses)).json()).toMatchObject({ Status: false });
    }
    sandbox.kill('SIGINT');
    const { stderr } = await sandbox.ended;
    expect(stderr.match(/call \d by-(?:body|file): 200 2009/g)).toHaveLength(7);
  });

  it('without --json prints its addresses and then its events to standard output, without guest names', async () => {
    const folder = await createFolder();
    const env = { PATH: process.env.PATH };
    const args = [command, 'sandbox', '--folder', folder];
    const program = startProgram(process.execPath, args, { cwd: folder, env });
    await program.until(({ stdout }) => stdout.includes('sandbox.yaml\n'));
    await writeFile(join(folder, `bookings-${day}.csv`), toCsv(makeBookings(60)));
    const { exitCode } = await runIn(folder, 'run', '--day', day, '--config', 'sandbox.yaml');
    expect(exitCode).toBe(0);
    program.kill('SIGTERM');
    const { stdout, stderr } = await program.ended;
    expect(stdout).toMatch(/^The sandbox is running; Ctrl-C stops it\.\n/);
    expect(stdout).toMatch(
      /call 1 by-body: 200 2000, 60 bookings accepted, 60 wrongly mapped\n\S+ {2}e-mail about 60 of call 1: /,
    );
    expect(stdout).toMatch(/stopped after 1 calls[\s\S]*60 of them wrongly mapped\. Its files are kept in /);
    expect(stderr).toBe('\nSIGTERM: stopping; send the signal again to stop at once\n');
    expectNoLeak('standard output', stdout);
  });

  it.each(['body', 'file'])('reviews a day by %s with that configuration', async (delivery) => {
    const folder = await createFolder();
    const sandbox = await callSandbox(folder, '--result-delay', '0');
    const { bookings } = await makeDayIn(folder, '--count', '300');
    const how = ['--delivery', delivery, '--config', 'sandbox.yaml', '--json'];
    const { exitCode, report } = await runIn(folder, 'run', '--day', day, ...how);
    expect({ exitCode, state: report.state }).toEqual({ exitCode: 0, state: 'succeeded' });
    sandbox.kill('SIGINT');
    await sandbox.ended;
    expect(sumTold(sandbox).accepted).toBe(bookings);
  });

  it('keeps its host key when it is restarted, and rewrites the configuration for its new ports', async () => {
    const folder = await createFolder();
    const first = await callSandbox(folder);
    const before = await readConfiguration(first.addresses.configuration);
    first.kill('SIGTERM');
    await first.ended;
    await occupy(before.port);
    await occupy(Number(new URL(before.baseUrl).port));
    const { addresses } = await callSandbox(folder);
    const after = await readConfiguration(addresses.configuration);
    expect(after).toEqual({
      baseUrl: addresses.service.baseUrl,
      port: addresses.sftp.port,
      fingerprint: before.fingerprint,
    });
    expect([after.baseUrl, after.port]).not.toEqual([before.baseUrl, before.port]);
  });

  it.each(['--port', '--sftp-port'])('exits with 2 when the %s is in use', async (option) => {
    const folder = await createFolder();
    const port = String(await occupy(0));
    const { exitCode, json, stderr } = await runIn(
      folder,
      'sandbox',
      '--folder',
      '.',
      option,
      port,
      '--json',
    );
    expect(exitCode).toBe(2);
    const message = `the sandbox cannot listen: listen EADDRINUSE: address already in use 127.0.0.1:${port}; choose another --port or --sftp-port, or omit them`;
    expect(json).toEqual({ error: { class: 'usage', message } });
    expect(stderr).toBe(`hotel-review: ${message}\n`);
    expect(await readdir(folder)).not.toContain('sandbox.yaml');
  });

  it.each([
    ['explode@1', 'expected a fault of status, refuse, latency, hang, drop'],
    ['hang', 'expected KIND[:VALUE]@WHEN, for example status:503@10% or hang@4'],
    ['status:200@1', 'expected status:CODE or status:CODE:RETRY_AFTER_SECONDS with a CODE from 400 to 599'],
    ['refuse:9@1', 'expected refuse:STATUS_CODE with four digits'],
    ['latency@1', 'expected latency:SECONDS'],
    ['drop@101%', 'expected a share from 0% to 100%, or numbers from 1'],
    ['drop@3-2', 'expected a share from 0% to 100%, or numbers from 1'],
  ])('exits with 2 for --fault %s and says what it expected', async (rule, expected) => {
    const folder = await createFolder();
    const rules = ['--fault', 'drop@1', '--fault', rule];
    const { exitCode, stdout, stderr } = await runIn(folder, 'sandbox', '--folder', 'new', ...rules);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(`hotel-review: --fault: ${expected}`);
    expect(stderr).toContain(`got: ${rule}\n`);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each<[string, (folder: string) => Promise<unknown>, readonly string[], string]>([
    [
      'a foreign sandbox.yaml',
      (folder) => writeFile(join(folder, 'sandbox.yaml'), 'timezone: UTC'),
      ['--folder', '.'],
      'sandbox.yaml was not written by the sandbox and is not overwritten; use another --folder',
    ],
    [
      'an invalid host key',
      (folder) => writeFile(join(folder, 'host-key'), 'junk'),
      ['--folder', '.'],
      'host-key contains no private key in OpenSSH format; remove it, and a new one is generated',
    ],
    [
      'a file as its folder',
      (folder) => writeFile(join(folder, 'file'), ''),
      ['--folder', 'file'],
      "file can't be created (EEXIST); use another folder",
    ],
    [
      'the name of another field',
      async () => {},
      ['--master-id-name', 'BookingClientName'],
      '--master-id-name: expected a name that no other field has',
    ],
  ])('exits with 2 for %s and overwrites nothing', async (_what, prepare, options, words) => {
    const folder = await createFolder();
    await prepare(folder);
    const before = await readFile(join(folder, 'sandbox.yaml'), 'utf8').catch(() => undefined);
    const { exitCode, stderr } = await runIn(folder, 'sandbox', ...options);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(words);
    const after = await readFile(join(folder, 'sandbox.yaml'), 'utf8').catch(() => undefined);
    expect(after).toBe(before);
  });

  it('hits the same calls with the same --seed, and other calls with another', async () => {
    const rules = ['--fault', 'status:503@50%', '--seed'];
    const callOften = async (seed: string) => {
      const sandbox = await callSandbox(await createFolder(), ...rules, seed);
      const statuses: number[] = [];
      for (let call = 1; call <= 30; call += 1)
        statuses.push((await callService(sandbox.addresses, makeBookings(3))).status);
      return statuses;
    };
    const [first, again, other] = await Promise.all(['7', '7', '8'].map(callOften));
    expect(new Set(first)).toEqual(new Set([200, 503]));
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  it.each([
    ['its own', '300'],
    ['another', '2000'],
  ])('verifies mappings of %s world against --hotels 300', async (whose, hotels) => {
    const folder = await createFolder();
    const sandbox = await callSandbox(folder, '--hotels', '300');
    const { bookings, wrongMappings } = await makeDayIn(folder, '--count', '500', '--hotels', hotels);
    const { exitCode } = await runIn(folder, 'run', '--day', day, '--config', 'sandbox.yaml');
    expect(exitCode).toBe(0);
    sandbox.kill('SIGINT');
    await sandbox.ended;
    const { accepted, wrong } = sumTold(sandbox);
    expect(accepted).toBe(bookings);
    expect(wrongMappings).toBeGreaterThan(0);
    // A booking without a provider's hotel counts as correct in every world.
    if (whose === 'another') expect(wrong).toBeGreaterThan(bookings * 0.95);
    else expect(wrong).toBe(wrongMappings);
  });
});
