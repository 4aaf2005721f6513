import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { fillIn, projectFile, readComposeFile } from '../support/compose-file.js';
import type { CertificateFiles } from '../support/machine.js';
import { patienceMs } from '../support/patience.js';
import { type RunningProgram, startProgram } from '../support/program.js';
import { makePrivilegeSeparationFolder } from '../support/sftp-programs.js';
import { awaitGreeting, findFreePort, runsAsRoot, spawnServer, stopServer } from '../support/sftp-server.js';

/** A folder in place of the containers' volumes; removed after the test. */
export function makeVolumes(): string {
  // sshd accepts keys only below folders that nobody else can change; root's temporary folder is not one of them.
  const folder = realpathSync(mkdtempSync(join(runsAsRoot ? '/run' : tmpdir(), 'compose-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of [
    'exports',
    'data',
    'certificate',
    'certificate-key',
    'sandbox',
    'host-keys',
    'login',
    'redis',
    'ops/docker',
  ])
    mkdirSync(join(folder, name), { recursive: true });
  return folder;
}

/** Creates the secrets of a trial, in the folder `secrets`. */
export function makeComposeSecrets(folder: string): void {
  const script = join(folder, 'ops/docker/make-secrets.sh');
  writeFileSync(script, projectFile('ops/docker/make-secrets.sh'));
  execFileSync('sh', [script]);
  writeFileSync(join(folder, 'secrets/api-key'), projectFile('ops/docker/trial-key'));
}

/** Creates the sandbox's certificate as docker-compose.yml does, except for its address here. */
export function makeComposeCertificate(folder: string): CertificateFiles {
  const { entrypoint = [], command = [] } = readComposeFile().services.certificate;
  const [shell = '', ...options] = entrypoint;
  const script = fillIn(command.join(' '), {})
    .replaceAll(/\/certificate(?:-key)?\//g, (path) => `${folder}${path}`)
    .replace('DNS:sandbox', 'IP:127.0.0.1');
  execFileSync(shell, [...options, script], { stdio: 'ignore' });
  return {
    certificate: join(folder, 'certificate/certificate.pem'),
    key: join(folder, 'certificate-key/key.pem'),
  };
}

/** Starts Redis as docker-compose.yml does, on a port of its own. It ends with the test. */
export async function startComposeRedis(folder: string): Promise<number> {
  const { entrypoint = [], command = [], healthcheck } = readComposeFile().services.redis;
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
  const [, test = ''] = healthcheck?.test ?? [];
  const isHealthy = () => spawnSync('sh', ['-c', place(test)], { stdio: 'ignore' }).status === 0;
  await vi.waitUntil(isHealthy, { timeout: patienceMs, interval: 50 });
  return port;
}

/** Starts the SFTP server of ops/docker/sftp for the test's user. It ends with the test. */
export async function startComposeSftp(
  folder: string,
): Promise<{ readonly port: number; readonly hostKey: string }> {
  const port = await findFreePort();
  const place = (text: string) =>
    text.replaceAll(/(?<= )\/(?=host-keys|login)/g, `${folder}/`).replaceAll('[ -s /', `[ -s ${folder}/`);
  const config = join(folder, 'sshd_config');
  const changed = place(projectFile('ops/docker/sftp/sshd_config'))
    .replace('Port 2222', `Port ${port}\nListenAddress 127.0.0.1`)
    .replace('AllowUsers review', `AllowUsers ${userInfo().username}`)
    .replace('PermitRootLogin no', 'PermitRootLogin prohibit-password');
  writeFileSync(config, changed);
  const script = join(folder, 'start.sh');
  writeFileSync(
    script,
    place(projectFile('ops/docker/sftp/start.sh')).replace('sshd -D -e', `sshd -D -e -f ${config}`),
  );
  const log = join(folder, 'sshd.log');
  makePrivilegeSeparationFolder();
  const server = spawnServer('/bin/sh', ['-c', `exec sh ${script} >${log} 2>&1`]);
  onTestFinished(() => stopServer(server, folder));
  await awaitGreeting(port, server, () => readFileSync(log, 'utf8'));
  const hostKey = /HOTEL_REVIEW_SFTP_HOST_KEY=(\S+)/.exec(readFileSync(log, 'utf8'))?.[1] ?? '';
  return { port, hostKey };
}

/** Starts a program that ends with the test, and waits for a JSON line in its log. */
export async function startLogging(
  args: readonly string[],
  message: string,
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<RunningProgram & { readonly line: Readonly<Record<string, unknown>> }> {
  const program = startProgram(process.execPath, args, options);
  onTestFinished(async () => {
    program.kill('SIGKILL');
    await program.ended;
  });
  const find = () =>
    program.stderr
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line))
      .find(({ msg }) => msg === message);
  await program.until(() => find() !== undefined);
  return Object.assign(Object.create(program), { line: find() });
}

/** Polls until the response is as expected. */
export async function awaitAnswer(
  url: string,
  isWanted: (answer: Readonly<Record<string, unknown>>) => boolean,
  headers: () => Readonly<Record<string, string>> = () => ({}),
): Promise<Readonly<Record<string, unknown>>> {
  return vi.waitUntil(
    async () => {
      const answer = (await (await fetch(url, { headers: headers() })).json()) as Readonly<
        Record<string, unknown>
      >;
      return isWanted(answer) ? answer : undefined;
    },
    { timeout: patienceMs, interval: 50 },
  );
}
