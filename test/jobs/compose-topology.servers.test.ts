import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { environmentOf, projectFile } from '../support/compose-file.js';
import { certificateNeeds } from '../support/machine.js';
import { type Postgres, postgresNeeds, startPostgres } from '../support/postgres.js';
import { redisNeeds } from '../support/redis.js';
import { command, runIn, startSandboxCommand, sumTold } from '../support/sandbox-command.js';
import { openSsh } from '../support/sftp-programs.js';
import {
  awaitAnswer,
  makeComposeCertificate,
  makeComposeSecrets,
  makeVolumes,
  signLook,
  startComposeRedis,
  startComposeSftp,
  startLogging,
} from './compose-topology.js';

const curlNeeds =
  spawnSync('curl', ['--version'], { stdio: 'ignore' }).status === 0
    ? undefined
    : 'needs curl: apt-get install curl';
const needs = redisNeeds ?? postgresNeeds ?? certificateNeeds ?? openSsh.needs ?? curlNeeds;

const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
const trial = parseEnv(projectFile('ops/docker/trial.env')) as Record<string, string>;

describe('The trial of docker-compose.yml, without containers', () => {
  beforeEach(({ skip }) => skip(needs !== undefined, needs));

  let postgres: Postgres;
  beforeAll(async () => {
    if (needs === undefined) postgres = await startPostgres();
  });
  afterAll(() => postgres?.remove());

  /** Everything except `serve` and `work`, and their commands. */
  async function startPeers(delivery: 'body' | 'file') {
    const folder = makeVolumes();
    makeComposeSecrets(folder);
    const { certificate, key } = makeComposeCertificate(folder);
    const tls = ['--tls-certificate', certificate, '--tls-key', key];
    const sandbox = await startSandboxCommand(join(folder, 'sandbox'), ...tls, '--result-delay', '0');
    const redisPort = await startComposeRedis(folder);
    const sftp = delivery === 'file' ? await startComposeSftp(folder) : undefined;

    const config = join(folder, 'hotel-review.yaml');
    const servers = { ledger: await postgres.createDatabase(), redisPort, sftpPort: sftp?.port };
    writeFileSync(config, place(projectFile('ops/docker/trial.yaml'), folder, servers));
    const env = {
      ...environmentOf('serve', {
        ...trial,
        HOTEL_REVIEW_BASE_URL: sandbox.addresses.service.baseUrl,
        ...(sftp && { HOTEL_REVIEW_SFTP_HOST_KEY: sftp.hostKey }),
      }),
      PATH: process.env.PATH,
      NODE_EXTRA_CA_CERTS: certificate,
    };
    const start = (service: 'serve' | 'work', message: string) =>
      startLogging([command, service, '--port', '0', '--config', config], message, { cwd: folder, env });
    return { folder, config, env, sandbox, redisPort, start };
  }

  it.each(['body', 'file'] as const)(
    'reviews the day that the end-of-day hook names, by %s',
    async (delivery) => {
      const { folder, config, env, sandbox, redisPort, start } = await startPeers(delivery);
      const stranger = new Redis(redisPort, '127.0.0.1', { enableReadyCheck: false });
      onTestFinished(() => stranger.disconnect());
      await expect(stranger.keys('*')).rejects.toThrow('NOAUTH');
      const bookings = join(folder, 'exports', `bookings-${yesterday}.csv`);
      const made = ['--day', yesterday, '--count', '3000', '--out', bookings, '--json'];
      const day = (await runIn(folder, 'sandbox', 'bookings', ...made)).json as { bookings: number };

      const [serve, ...workers] = await Promise.all([
        start('serve', 'serving'),
        start('work', 'listening'),
        start('work', 'listening'),
      ]);
      for (const { line } of [serve, ...workers]) {
        expect((await fetch(`${line.url}/healthz`)).status).toBe(200);
        await awaitAnswer(`${line.url}/readyz`, ({ ready }) => ready === true);
      }

      const hook = ['hook', '--day', yesterday, '--url', String(serve.line.url), '--config', config];
      const curl = execFileSync(process.execPath, [command, ...hook], { env, encoding: 'utf8' });
      const answer = execFileSync('bash', ['-euc', curl], { encoding: 'utf8' });
      expect(answer).toMatch(/^HTTP\/1\.1 202 /);
      const { runId, statusUrl } = JSON.parse(answer.trimEnd().split('\n').at(-1) ?? '');

      const page = `${serve.line.url}${statusUrl}`;
      // Nobody can sign in, and the server is open to other machines.
      expect((await fetch(page)).status).toBe(403);
      const run = await awaitAnswer(
        page,
        ({ finishedAt }) => finishedAt !== null,
        () => signLook(folder),
      );
      expect(run).toMatchObject({
        ...{ runId, day: yesterday, delivery, trigger: 'hook', state: 'succeeded' },
        counts: { accepted: day.bookings, delivered: day.bookings, pending: 0, repeated: 0 },
      });

      for (const { kill } of [serve, ...workers]) kill('SIGTERM');
      for (const { ended } of [serve, ...workers]) expect((await ended).exitCode).toBe(0);
      sandbox.kill('SIGTERM');
      expect((await sandbox.ended).exitCode).toBe(0);
      expect(sumTold(sandbox).accepted).toBe(day.bookings);
      if (delivery === 'file') expect(existsSync(join(folder, 'sandbox/sftp/VerifyMappings'))).toBe(true);
    },
  );
});

/** The configuration with this machine's paths and servers instead of the containers'. */
function place(
  written: string,
  folder: string,
  { ledger, redisPort, sftpPort }: { ledger: string; redisPort: number; sftpPort: number | undefined },
): string {
  const here = written
    .replaceAll(/(?<=["\s])\/(?=exports|data|certificate)/g, `${folder}/`)
    .replaceAll('/run/secrets/', `${folder}/secrets/`)
    .replace(/postgres:\/\/review:.*@postgres:5432\/review/, ledger)
    .replace('@redis:6379', `@127.0.0.1:${redisPort}`)
    .replace('host: 0.0.0.0', 'host: 127.0.0.1');
  if (sftpPort === undefined) return here;
  const group = /^ {2}# sftp:\n {2}# {3}host: sftp\n(?: {2}# {3}.*\n)*/m.exec(here)?.[0] ?? '';
  const sftp = group
    .replaceAll(/^ {2}# /gm, '  ')
    .replace('host: sftp', 'host: 127.0.0.1')
    .replace('port: 2222', `port: ${sftpPort}`)
    .replace('username: review', `username: ${userInfo().username}`)
    .replace('/login/', `${folder}/login/`)
    .replace('root: /sandbox/', `root: ${folder}/sandbox/`);
  return here
    .replace(group, sftp)
    .replace('delivery: body', 'delivery: file')
    .replace('spool:', 'resultPollSeconds: 0.05\n  spool:');
}
