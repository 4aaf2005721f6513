import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { findFreePort, freeze, spawnServer } from './sftp-server.js';

const isThere = (process.env.PATH ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'redis-server')));

/** What is missing on this machine, and how to install it. */
export const redisNeeds = isThere ? undefined : 'needs redis-server: apt-get install redis-server';

/** A real Redis server on this machine, in its own folder. */
export interface RunningRedis {
  readonly port: number;
  readonly url: string;
  /** As a power cut would: what is on disk stays. */
  kill(): Promise<void>;
  /** On the same port, after `kill`; `empty` like a server whose disk was lost. */
  startAgain(options: { readonly empty: boolean }): Promise<void>;
  /** From now on connections hang, though the system still accepts new ones. */
  freeze(): Promise<void>;
  flushAll(): Promise<void>;
  /** Its whole content, keys and values, as one text. */
  readEverything(): Promise<string>;
  /** Runs a command on its own connection. */
  ask<Answer>(question: (client: Redis) => Promise<Answer>): Promise<Answer>;
  close(): Promise<void>;
}

export async function startRedis({ args = [] }: { args?: readonly string[] } = {}): Promise<RunningRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'));
  const port = await findFreePort();
  let server = await start();

  async function start(): Promise<ChildProcess> {
    const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
    // Without fsync every write is in its file before its answer. With it, a slow disk postpones writes, and a kill loses them.
    const log = ['--appendonly', 'yes', '--appendfsync', 'no'];
    const started = spawnServer('redis-server', [...options, ...log, ...args]);
    await until(() => answers(port, started));
    return started;
  }

  async function kill(): Promise<void> {
    if (hasEnded(server)) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  }

  const redis: RunningRedis = {
    port,
    url: `redis://127.0.0.1:${port}`,
    kill,
    async startAgain({ empty }) {
      if (empty) {
        rmSync(folder, { recursive: true });
        mkdirSync(folder);
      }
      server = await start();
    },
    async freeze() {
      await freeze(server.pid ?? 0);
    },
    async flushAll() {
      await redis.ask((client) => client.flushall());
    },
    readEverything: () => redis.ask(readEverything),
    async ask(question) {
      const client = new Redis(port, '127.0.0.1');
      try {
        return await question(client);
      } finally {
        client.disconnect();
      }
    },
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return redis;
}

/** Polls without vitest's help: benchmarks start these servers too. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(2);
}

/** A sentinel that watches the server on that port. */
export async function startSentinel(
  watched: number,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'sentinel-'));
  const port = await findFreePort();
  const settings = join(folder, 'sentinel.conf');
  writeFileSync(settings, `port ${port}\nbind 127.0.0.1\nsentinel monitor day 127.0.0.1 ${watched} 1\n`);
  const sentinel = spawnServer('redis-server', [settings, '--sentinel']);
  await until(() => answers(port, sentinel));
  return {
    url: `redis://127.0.0.1:${port}`,
    async close() {
      const ended = once(sentinel, 'exit');
      sentinel.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** It accepts connections before its files are open, which takes seconds on a busy disk. */
async function answers(port: number, server: ChildProcess): Promise<boolean> {
  if (hasEnded(server)) throw new Error(`redis-server ended with ${server.exitCode ?? server.signalCode}`);
  const socket = connect(port, '127.0.0.1');
  try {
    socket.write('PING\r\n');
    const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    return /^[+-](?!LOADING)/.test(`${answer}`);
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Keys and values of one database, as text. */
export async function readEverything(client: Redis): Promise<string> {
  const keys = await client.keys('*');
  const values = await Promise.all(keys.map((key) => readKey(client, key)));
  return JSON.stringify(keys.flatMap((key, index) => [key, values[index]]));
}

async function readKey(client: Redis, key: string): Promise<unknown> {
  const kind = await client.type(key);
  switch (kind) {
    case 'string':
      return client.get(key);
    case 'hash':
      return client.hgetall(key);
    case 'list':
      return client.lrange(key, 0, -1);
    case 'set':
      return client.smembers(key);
    case 'zset':
      return client.zrange(key, 0, -1, 'WITHSCORES');
    case 'stream':
      return client.xrange(key, '-', '+');
    case 'none':
      // It has expired meanwhile.
      return undefined;
    default:
      throw new Error(`a key of an unknown kind, ${kind}`);
  }
}

function hasEnded(server: ChildProcess): boolean {
  return server.exitCode !== null || server.signalCode !== null;
}
