import { execFileSync, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeTemporaryFolder } from '../doctor/temporary-folder.js';
import { fillIn, projectFile, readComposeFile } from '../support/compose-file.js';
import { certificateNeeds, makeCertificate } from '../support/machine.js';
import { patienceMs } from '../support/patience.js';
import { redisNeeds } from '../support/redis.js';
import { openSsh } from '../support/sftp-programs.js';
import { awaitGreeting, findFreePort, runsAsRoot, spawnServer, stopServer } from '../support/sftp-server.js';

const { services, secrets } = readComposeFile();

describe('docker-compose.yml', () => {
  it('creates the certificate of the sandbox once, and replaces one that is an authority', ({ skip }) => {
    skip(certificateNeeds !== undefined, certificateNeeds);
    const folder = makeTemporaryFolder();
    const authority = makeCertificate('DNS:sandbox').certificate;
    expect(new X509Certificate(readFileSync(authority)).ca).toBe(true);
    cpSync(authority, join(folder, 'certificate.pem'));
    const { entrypoint = [], command = [] } = services.certificate;
    const script = command.join(' ').replaceAll(/\/certificate(?:-key)?\//g, `${folder}/`);
    const make = () => {
      const [shell = '', ...options] = entrypoint;
      execFileSync(shell, [...options, script], { stdio: 'ignore' });
      return readFileSync(join(folder, 'certificate.pem'));
    };
    const made = make();
    const certificate = new X509Certificate(made);
    expect(certificate.checkHost(services.sandbox.hostname ?? '')).toBe('sandbox');
    expect(certificate.subjectAltName).toBe('DNS:sandbox');
    expect(certificate.ca).toBe(false);
    expect(make()).toEqual(made);
  });

  it('gets its secrets from a script that keeps those that are there', ({ skip }) => {
    // It makes them with openssl.
    skip(certificateNeeds !== undefined, certificateNeeds);
    const folder = makeTemporaryFolder();
    mkdirSync(join(folder, 'ops/docker'), { recursive: true });
    cpSync(
      new URL('../../ops/docker/make-secrets.sh', import.meta.url),
      join(folder, 'ops/docker/make-secrets.sh'),
    );
    const make = () => {
      execFileSync('sh', [join(folder, 'ops/docker/make-secrets.sh')]);
      const names = readdirSync(join(folder, 'secrets')).sort();
      return Object.fromEntries(
        names.map((name) => [name, readFileSync(join(folder, 'secrets', name), 'utf8')]),
      );
    };
    const made = make();
    const { 'api-key': _ofTheAccount, ...others } = secrets;
    expect(Object.keys(made)).toEqual(Object.keys(others).sort());
    for (const [name, { file }] of Object.entries(others)) expect(file).toBe(`./secrets/${name}`);
    expect(new Set(Object.values(made)).size).toBe(4);
    expect(made['postgres-password']).toMatch(/^[0-9a-f]{48}\n$/);
    expect(made['redis-password']).toMatch(/^[0-9a-f]{48}\n$/);
    expect(made['hook-secret']).toMatch(/^whsec_[\w+/]{43}=\n$/);
    expect(statSync(join(folder, 'secrets')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'secrets/hash-key')).mode & 0o777).toBe(0o444);
    expect(make()).toEqual(made);
  });

  it('starts a Redis that is healthy, and asks everybody for its password', async ({ skip }) => {
    skip(redisNeeds !== undefined, redisNeeds);
    const folder = makeTemporaryFolder();
    for (const name of ['secrets', 'redis']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'secrets/redis-password'), 'of-the-queue\n');
    const { entrypoint = [], command = [], healthcheck } = services.redis;
    const port = await findFreePort();
    const place = (text: string) =>
      fillIn(text, {})
        .replaceAll('/run/secrets/', `${folder}/secrets/`)
        .replaceAll('/tmp/redis.conf', `${folder}/redis.conf`)
        .replace('--dir /data', `--dir ${folder}/redis --bind 127.0.0.1 --port ${port}`)
        .replace('redis-cli', `redis-cli -p ${port}`);
    const [shell = '', ...options] = [...entrypoint, ...command.map(place)];
    const server = spawnServer(shell, options);
    onTestFinished(() => stopServer(server, join(folder, 'redis')));
    const test = place(healthcheck?.test[1] ?? '');
    const isHealthy = () => spawnSync('sh', ['-c', test], { stdio: 'ignore' }).status === 0;
    await vi.waitUntil(isHealthy, { timeout: patienceMs, interval: 50 });
    const stranger = new Redis(port, '127.0.0.1', { enableReadyCheck: false });
    onTestFinished(() => stranger.disconnect());
    await expect(stranger.keys('*')).rejects.toThrow('NOAUTH');
  });
});

describe('ops/docker/sftp', () => {
  it('starts a server that says its host key, and lets in who has the key that it made', async ({ skip }) => {
    skip(openSsh.needs !== undefined, openSsh.needs);
    // sshd accepts keys only below folders that nobody else can change; root's temporary folder is not one of them.
    const folder = realpathSync(mkdtempSync(join(runsAsRoot ? '/run' : tmpdir(), 'compose-')));
    for (const name of ['host-keys', 'login']) mkdirSync(join(folder, name));
    const port = await findFreePort();
    const place = (text: string) =>
      text.replaceAll(/(?<= )\/(?=host-keys|login)/g, `${folder}/`).replaceAll('[ -s /', `[ -s ${folder}/`);
    const config = join(folder, 'sshd_config');
    const changed = place(projectFile('ops/docker/sftp/sshd_config'))
      .replace('Port 2222', `Port ${port}\nListenAddress 127.0.0.1`)
      .replace('AllowUsers review', `AllowUsers ${userInfo().username}`)
      .replace('PermitRootLogin no', 'PermitRootLogin prohibit-password');
    writeFileSync(config, changed);
    const script = place(projectFile('ops/docker/sftp/start.sh'));
    writeFileSync(join(folder, 'start.sh'), script.replace('sshd -D -e', `sshd -D -e -f ${config}`));
    const log = join(folder, 'sshd.log');
    const server = spawnServer('/bin/sh', ['-c', `exec sh ${folder}/start.sh >${log} 2>&1`]);
    onTestFinished(() => stopServer(server, folder));
    await awaitGreeting(port, server, () => readFileSync(log, 'utf8'));
    expect(readFileSync(log, 'utf8')).toMatch(/HOTEL_REVIEW_SFTP_HOST_KEY=SHA256:\S+/);
    const options = ['-P', `${port}`, '-i', join(folder, 'login/id_ed25519'), '-b', '-'].concat(
      ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'BatchMode=yes'].flatMap((one) => [
        '-o',
        one,
      ]),
    );
    const session = spawnSync('sftp', [...options, '127.0.0.1'], { input: 'pwd\n', encoding: 'utf8' });
    expect([session.status, session.stdout]).toEqual([
      0,
      expect.stringContaining('Remote working directory'),
    ]);
  });
});
