import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Canaries, createCanary, findCanaries } from '../support/canaries.js';
import {
  env as commonEnv,
  secrets as commonSecrets,
  csv,
  guests,
  lookAtEverything,
  readPlaces,
  references,
  runTraced,
  search,
  serveAndLook,
  settings,
  type Texts,
  traced,
  variable,
} from '../support/canary-night.js';
import { day } from '../support/day-folder.js';
import { prepareFileDay } from '../support/file-day.js';
import { createHostileService } from '../support/hostile-service.js';
import { type HostileSftp, startHostileSftp } from '../support/hostile-sftp.js';
import { fakeTimeNeeds, startingAt } from '../support/machine.js';
import { type RunningRedis, readEverything, redisNeeds, startRedis } from '../support/redis.js';
import { usePostgres } from '../support/use-servers.js';
import { sharedSettings } from './machines.js';

const postgres = usePostgres();
const secrets = {
  ...commonSecrets,
  databasePassword: createCanary('database'),
  redisPassword: createCanary('redis'),
};
const env = {
  ...commonEnv,
  DATABASE_PASSWORD: secrets.databasePassword,
  REDIS_PASSWORD: secrets.redisPassword,
};

let redis: RunningRedis | undefined;
let sftp: HostileSftp;
beforeAll(async () => {
  const args = ['--requirepass', secrets.redisPassword];
  if (redisNeeds === undefined) redis = await startRedis({ args });
  const login = { username: 'acme', password: variable('SFTP_PASSWORD') };
  sftp = await startHostileSftp(login, () => Object.values(guests).join(' '));
});
afterAll(async () => {
  await sftp.stop();
  await redis?.close();
});

it('guests and secrets of many processes are in no command that Redis gets, and in PostgreSQL only until they are erased', async ({
  skip,
}) => {
  if (redis === undefined) return skip(redisNeeds);
  const client = new Redis(redis.port, '127.0.0.1', { password: secrets.redisPassword });
  const monitor = await client.monitor();
  const commands: string[] = [];
  monitor.on('monitor', (_time: string, words: readonly string[]) => commands.push(words.join(' ')));
  const database = await postgres().createDatabase();
  await postgres().query(
    database,
    `CREATE ROLE canary LOGIN SUPERUSER PASSWORD '${secrets.databasePassword}'`,
  );
  const ledger = postgres()
    .overTcp(database, { user: 'canary', password: 'PASSWORD' })
    .replace('PASSWORD', `\${DATABASE_PASSWORD}`);
  const queue = `redis://:\${REDIS_PASSWORD}@127.0.0.1:${redis.port}`;
  const { folder } = await prepareFileDay(sftp, {
    bookings: csv.replace('Hotelbeds,004A', ',004A'),
    settings: { ...settings, ...sharedSettings(ledger, queue), body: settings.body },
    onPost: createHostileService(guests.poison),
    async onCall(call) {
      const quote = `${secrets.sftpPassword} ${call.file}`;
      if (call.number === 1) return { kind: 'text', status: 500, body: quote };
      writeFileSync(
        join(sftp.disk('VerifyMappings/112026'), `20112026\u001b[2J${guests.other}_Result.csv`),
        quote,
      );
      await call.writeResult({ affected: ['BR-3'] });
      return { kind: 'json', body: { Status: true, StatusCode: 2000, Message: quote } };
    },
  });
  const texts: Texts = new Map();
  const workers = [1, 2].map(() => folder.start(['work', ...traced], { env }));
  for (const worker of workers) await worker.wrote('"working"');
  for (const args of [
    [...runTraced, '--delivery', 'body'],
    ['replay', day, '--json', ...traced, '--delivery', 'file'],
  ]) {
    const { stdout, stderr } = await folder.run(args, { env });
    texts.set(args.join(' '), stdout + stderr);
    expect(stdout).toContain('"succeeded"');
  }
  const mayHold = await readPlaces(folder, env);
  await serveAndLook(folder, texts, () => {}, env);
  await lookAtEverything(folder, texts, env);
  for (const worker of workers) {
    worker.kill('SIGTERM');
    const { stdout, stderr } = await worker.ended;
    texts.set(`a worker (${texts.size})`, stdout + stderr);
  }
  texts.set('MONITOR', commands.join('\n'));
  texts.set('the keys of Redis', await readEverything(client));
  expect(commands.length).toBeGreaterThan(50);
  expect(search(folder, texts, { ...guests, ...secrets }, mayHold)).toEqual([]);

  const searchDatabase = (canaries: Canaries) =>
    findCanaries(execFileSync('pg_dump', [database], { maxBuffer: 1e9 }), canaries);
  expect(searchDatabase(secrets)).toEqual([]);
  const { erased } = guests;
  expect(searchDatabase({ erased }).length).toBeGreaterThan(0);
  for (let left = 1, time = 1; left > 0; time += 1) {
    expect(time).toBeLessThan(6);
    const { json } = await folder.run(['guest', 'erase', references.erased, '--reason', 'asked', '--json'], {
      env,
    });
    left = (json as { readonly left: readonly object[] }).left.length;
  }
  expect(searchDatabase({ erased })).toEqual([]);
  if (fakeTimeNeeds === undefined)
    for (const [days, canaries] of [
      [40, guests],
      [900, references],
    ] as const) {
      expect(searchDatabase(days === 40 ? { other: guests.other } : canaries).length).toBeGreaterThan(0);
      const later = startingAt(new Date(Date.now() + days * 86_400_000).toISOString());
      const purged = await folder.run(['guest', 'purge', '--json'], {
        asProcess: true,
        env: { ...env, ...later },
      });
      expect(purged.exitCode).toBe(0);
      expect(searchDatabase(canaries)).toEqual([]);
    }
  monitor.disconnect();
  client.disconnect();
});
