import { readdir } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { beforeEach, describe, expect, it } from 'vitest';
import { startCommand } from '../support/command.js';
import { day } from '../support/day-folder.js';
import { certificateNeeds, makeCertificate } from '../support/machine.js';
import { callSandbox, createFolder, makeDayIn, runIn, sumTold } from '../support/sandbox-command.js';

/** An address of this machine, beyond loopback where it has a network. */
const address =
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.2';

describe('A sandbox that other machines can reach', () => {
  beforeEach(({ skip }) => skip(certificateNeeds !== undefined, certificateNeeds));

  it.each(['body', 'file'])('reviews by %s under its own address, over https', async (delivery) => {
    const { certificate, key } = makeCertificate(`IP:${address}`);
    const folder = await createFolder();
    const tls = ['--tls-certificate', certificate, '--tls-key', key];
    const sandbox = await callSandbox(folder, '--host', address, ...tls, '--result-delay', '0');
    const { service, sftp } = sandbox.addresses;
    expect(new URL(service.baseUrl)).toMatchObject({ protocol: 'https:', hostname: address });
    expect(sftp.host).toBe(address);
    const { bookings } = await makeDayIn(folder, '--count', '300');
    const env = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: certificate };
    const args = ['run', '--day', day, '--delivery', delivery, '--config', 'sandbox.yaml', '--json'];
    const { exitCode, report } = await startCommand(args, { cwd: folder, env }).ended;
    expect({ exitCode, state: report.state }).toEqual({ exitCode: 0, state: 'succeeded' });
    sandbox.kill('SIGTERM');
    await sandbox.ended;
    expect(sumTold(sandbox).accepted).toBe(bookings);
  });

  it.each<[string, (files: { certificate: string; key: string }) => readonly string[], string]>([
    [
      'a key of another certificate',
      ({ certificate }) => ['--tls-certificate', certificate, '--tls-key', makeCertificate('DNS:other').key],
      '--tls-certificate and --tls-key: expected a certificate in PEM and the private key that goes with it',
    ],
    [
      'a certificate without a key',
      ({ certificate }) => ['--tls-certificate', certificate],
      '--tls-certificate and --tls-key go together',
    ],
    [
      'a missing key',
      ({ certificate }) => ['--tls-certificate', certificate, '--tls-key', 'missing.pem'],
      "--tls-key: missing.pem can't be read (ENOENT); use another file",
    ],
  ])('exits with 2 for %s and creates nothing', async (_what, options, words) => {
    const folder = await createFolder();
    const files = makeCertificate('DNS:sandbox');
    const { exitCode, stderr } = await runIn(folder, 'sandbox', '--folder', 'new', ...options(files));
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: `hotel-review: ${words}\n` });
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['an address of another machine', '192.0.2.1', 'EADDRNOTAVAIL'],
    ['an unknown name', 'nothing.invalid', 'nothing.invalid'],
  ])('exits with 2 for %s', async (_what, host, words) => {
    const folder = await createFolder();
    const { certificate, key } = makeCertificate(`DNS:${host}`);
    const tls = ['--tls-certificate', certificate, '--tls-key', key];
    const { exitCode, stderr } = await runIn(folder, 'sandbox', '--folder', '.', '--host', host, ...tls);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('hotel-review: the sandbox cannot listen: ');
    expect(stderr).toContain(words);
    expect(stderr).toContain('; set --host to a name or address of this machine, or omit it\n');
  });
});

describe('A sandbox beyond loopback', () => {
  it.each(['0.0.0.0', 'sandbox', '192.0.2.1'])('is refused at %s without https', async (host) => {
    const folder = await createFolder();
    const { exitCode, stderr } = await runIn(folder, 'sandbox', '--folder', 'new', '--host', host);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('hotel-review: --host: the address of a sandbox there must begin with https://');
    expect(stderr).toContain('; --tls-certificate and --tls-key make it https\n');
    expect(await readdir(folder)).toEqual([]);
  });

  it('listens on IPv6 loopback by plain http', async () => {
    const { addresses } = await callSandbox(await createFolder(), '--host', '::1');
    expect(addresses.service.baseUrl).toMatch(/^http:\/\/\[::1\]:\d+\/api\/3\.0$/);
    expect((await fetch(addresses.service.baseUrl)).status).toBe(404);
  });
});
