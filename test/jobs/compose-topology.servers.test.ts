import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { readKeys, sign } from '../../src/transports/http/webhook-signature.js';
import { environmentOf, projectFile } from '../support/compose-file.js';
import { certificateNeeds } from '../support/machine.js';
import { redisNeeds } from '../support/redis.js';
import { command, runIn, startSandboxCommand, sumTold } from '../support/sandbox-command.js';
import { openSsh } from '../support/sftp-programs.js';
import { usePostgres } from '../support/use-servers.js';
import {
  awaitAnswer,
  makeComposeCertificate,
  makeComposeSecrets,
  makeVolumes,
  startComposeRedis,
  startComposeSftp,
  startLogging,
} from './compose-topology.js';

const postgres = usePostgres();
const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
const trial = parseEnv(projectFile('ops/docker/trial.env')) as Record<string, string>;

it.skipIf(redisNeeds ?? certificateNeeds ?? openSsh.needs)(
  'the trial of docker-compose.yml, without containers, reviews by file the day that the end-of-day hook names',
  async () => {
    const folder = makeVolumes();
    makeComposeSecrets(folder);
    const { certificate, key } = makeComposeCertificate(folder);
    const tls = ['--tls-certificate', certificate, '--tls-key', key];
    const sandbox = await startSandboxCommand(join(folder, 'sandbox'), ...tls, '--result-delay', '0');
    const redisPort = await startComposeRedis(folder);
    const stranger = new Redis(redisPort, '127.0.0.1', { enableReadyCheck: false });
    onTestFinished(() => stranger.disconnect());
    await expect(stranger.keys('*')).rejects.toThrow('NOAUTH');
    const sftp = await startComposeSftp(folder);

    const config = join(folder, 'hotel-review.yaml');
    const servers = { ledger: await postgres().createDatabase(), redisPort, sftpPort: sftp.port };
    writeFileSync(config, place(projectFile('ops/docker/trial.yaml'), folder, servers));
    const variables = {
      ...trial,
      HOTEL_REVIEW_BASE_URL: sandbox.addresses.service.baseUrl,
      HOTEL_REVIEW_SFTP_HOST_KEY: sftp.hostKey,
    };
    const { PATH } = process.env;
    const env = { ...environmentOf('serve', variables), PATH, NODE_EXTRA_CA_CERTS: certificate };
    const start = (service: 'serve' | 'work', message: string) =>
      startLogging([command, service, '--port', '0', '--config', config], message, { cwd: folder, env });
    const bookings = join(folder, 'exports', `bookings-${yesterday}.csv`);
    const made = ['--day', yesterday, '--count', '3000', '--out', bookings, '--json'];
    const day = (await runIn(folder, 'sandbox', 'bookings', ...made)).json as { bookings: number };

    const all = await Promise.all([
      start('serve', 'serving'),
      start('work', 'listening'),
      start('work', 'listening'),
    ]);
    for (const { line } of all) {
      expect((await fetch(`${line.url}/healthz`)).status).toBe(200);
      await awaitAnswer(`${line.url}/readyz`, ({ ready }) => ready === true);
    }
    const secret = readFileSync(join(folder, 'secrets', 'hook-secret'), 'utf8').trim();
    const signed = (body: string, id: string) => {
      const timestamp = String(Math.floor(Date.now() / 1000));
      const signature = sign({ id, timestamp, body: Buffer.from(body) }, readKeys(secret)[0]);
      return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    };
    const { url } = all[0].line;
    const body = JSON.stringify({ day: yesterday });
    const headers = { 'content-type': 'application/json', ...signed(body, 'night') };
    const answer = await fetch(`${url}/hooks/end-of-day`, { method: 'POST', headers, body });
    expect(answer.status).toBe(202);
    const { runId, statusUrl } = (await answer.json()) as { runId: string; statusUrl: string };
    // Nobody can sign in, and the server is open to other machines.
    expect((await fetch(`${url}${statusUrl}`)).status).toBe(403);
    const run = await awaitAnswer(
      `${url}${statusUrl}`,
      ({ finishedAt }) => typeof finishedAt === 'string',
      () => signed('', 'look'),
    );
    expect(run).toMatchObject({
      ...{ runId, day: yesterday, delivery: 'file', trigger: 'hook', state: 'succeeded' },
      counts: { accepted: day.bookings, delivered: day.bookings, pending: 0, repeated: 0 },
    });

    for (const { kill } of [...all, sandbox]) kill('SIGTERM');
    for (const { ended } of [...all, sandbox]) expect((await ended).exitCode).toBe(0);
    expect(sumTold(sandbox).accepted).toBe(day.bookings);
    expect(existsSync(join(folder, 'sandbox/sftp/VerifyMappings'))).toBe(true);
  },
);

/** The configuration with this machine's paths and servers instead of the containers', and with delivery by file. */
function place(
  written: string,
  folder: string,
  {
    ledger,
    redisPort,
    sftpPort,
  }: { readonly ledger: string; readonly redisPort: number; readonly sftpPort: number },
): string {
  const group = /^ {2}# sftp:\n {2}# {3}host: sftp\n(?: {2}# {3}.*\n)*/m.exec(written)?.[0] ?? '';
  return written
    .replace(group, group.replaceAll(/^ {2}# /gm, '  '))
    .replaceAll(/(?<=["\s])\/(?=exports|data|certificate)/g, `${folder}/`)
    .replaceAll('/run/secrets/', `${folder}/secrets/`)
    .replace(/postgres:\/\/review:.*@postgres:5432\/review/, ledger)
    .replace('@redis:6379', `@127.0.0.1:${redisPort}`)
    .replace('host: 0.0.0.0', 'host: 127.0.0.1')
    .replace('host: sftp\n', 'host: 127.0.0.1\n')
    .replace('port: 2222', `port: ${sftpPort}`)
    .replace('username: review', `username: ${userInfo().username}`)
    .replace('/login/', `${folder}/login/`)
    .replace('root: /sandbox/', `root: ${folder}/sandbox/`)
    .replace('delivery: body', 'delivery: file')
    .replace('spool:', 'resultPollSeconds: 0.05\n  spool:');
}
