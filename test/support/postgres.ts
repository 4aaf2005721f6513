import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { makeCertificate } from './machine.js';
import { fillFolder } from './prepared-folder.js';
import { findFreePort } from './sftp-server.js';

/** Debian's folder of versions, newest first. */
const versions = '/usr/lib/postgresql';
const bin = existsSync(versions)
  ? readdirSync(versions)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(versions, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')))
  : undefined;

/** One of its programs. */
export const findPostgresProgram = (name: string) => join(bin ?? '', name);

/** What is missing here to start a server of our own. */
export const postgresNeeds = missing();

export const superuser = 'hotel';
export const password = 'pa55-w0rd';

export interface Postgres {
  readonly port: number;
  /** Holds its socket and all its data. */
  readonly folder: string;
  /** Who owns its files. */
  readonly uid: number;
  /** Creates a folder that the server may write to. */
  makeFolder(name: string): string;
  /** Creates an empty database and returns its URL over the server's socket. */
  createDatabase(): Promise<string>;
  /** Empties a database for reuse by createDatabase, which is far less work than creating one. */
  giveBack(url: string): Promise<void>;
  /** The same database over TCP, where a password is required. */
  overTcp(
    url: string,
    login?: { readonly user?: string; readonly password?: string; readonly port?: number },
  ): string;
  /** Runs statements, bypassing the ledger. */
  query(url: string, sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Stops it as a power failure would: immediately, so that it recovers when it starts again. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** stop and start. */
  restartImmediate(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts a server in a new folder. By default it never waits for the disk. */
export async function startPostgres({ fsync = false, connections = 60 } = {}): Promise<Postgres> {
  if (bin === undefined) throw new Error(`${postgresNeeds}`);
  const programs = bin;
  // The folder has a short name: a socket's path has at most 107 characters.
  const folder = mkdtempSync('/tmp/pg-');
  const data = join(folder, 'data');
  const account = process.getuid?.() === 0 ? unprivilegedAccount() : undefined;
  if (account) chownSync(folder, account.uid, account.gid);
  writeFileSync(join(folder, 'password'), password, { mode: 0o644 });
  const initdb = join(programs, 'initdb');
  fillFolder(data, `postgres-${account?.uid ?? 'own'}-${statSync(initdb).mtimeMs}`, () =>
    execFileSync(
      initdb,
      ['--pgdata', data, '--username', superuser, '--no-locale', '--encoding', 'UTF8', '--no-sync'].concat([
        '--auth-local',
        'trust',
        '--auth-host',
        'scram-sha-256',
        '--pwfile',
        join(folder, 'password'),
      ]),
      { ...account, stdio: 'ignore', cwd: '/' },
    ),
  );
  const port = await findFreePort();
  const settings = [
    `port = ${port}`,
    `unix_socket_directories = '${folder}'`,
    `listen_addresses = '127.0.0.1'`,
    `fsync = ${fsync ? 'on' : 'off'}`,
    `max_connections = ${connections}`,
    // A restarting server is not delayed by leftovers of the previous one.
    'restart_after_crash = off',
  ];
  writeFileSync(join(data, 'postgresql.auto.conf'), `${settings.join('\n')}\n`);

  let server: ChildProcess | undefined;
  const adminUrl = urlOf('postgres');
  let databases = 0;
  const givenBack: string[] = [];

  function urlOf(database: string): string {
    return `postgres://${superuser}@${encodeURIComponent(folder)}:${port}/${database}`;
  }

  const postgres: Postgres = {
    port,
    folder,
    uid: account?.uid ?? process.getuid?.() ?? 0,
    makeFolder(name) {
      const path = join(folder, name);
      mkdirSync(path);
      if (account) chownSync(path, account.uid, account.gid);
      return path;
    },
    async createDatabase() {
      const free = givenBack.pop();
      if (free !== undefined) return free;
      databases += 1;
      await postgres.query(adminUrl, `CREATE DATABASE day_${databases} TEMPLATE template0`);
      return urlOf(`day_${databases}`);
    },
    async giveBack(url) {
      await postgres.query(url, 'DROP SCHEMA IF EXISTS hotel_review CASCADE');
      givenBack.push(url);
    },
    overTcp(url, login = {}) {
      const tcp = new URL(`postgres://127.0.0.1${new URL(url).pathname}`);
      tcp.port = String(login.port ?? port);
      tcp.username = login.user ?? superuser;
      tcp.password = login.password ?? password;
      return tcp.href;
    },
    async query(url, sql, values = []) {
      const client = new pg.Client({ connectionString: url });
      // The server may be stopped halfway.
      client.on('error', () => {});
      await client.connect();
      try {
        return (await client.query(sql, [...values])).rows;
      } finally {
        await client.end();
      }
    },
    async stop() {
      if (!server) return;
      const ended = once(server, 'exit');
      server.kill('SIGQUIT');
      await ended;
      server = undefined;
    },
    async start() {
      const started = spawn(join(programs, 'postgres'), ['-D', data], {
        ...account,
        stdio: 'ignore',
        cwd: '/',
      });
      server = started;
      // It ends with this process, even if nobody stops it.
      const quit = () => started.kill('SIGQUIT');
      process.once('exit', quit);
      started.once('exit', () => process.removeListener('exit', quit));
      // Polls without vitest's help: benchmarks start this server too.
      for (;;) {
        if (started.exitCode !== null) throw new Error('the server ended as soon as it was started');
        try {
          await postgres.query(adminUrl, 'SELECT 1');
          return;
        } catch {
          await pause(20);
        }
      }
    },
    async restartImmediate() {
      await postgres.stop();
      await postgres.start();
    },
    async remove() {
      await postgres.stop();
      rmSync(folder, { recursive: true });
    },
  };
  await postgres.start();
  return postgres;
}

/** PostgreSQL refuses to run as root. */
function unprivilegedAccount(): { readonly uid: number; readonly gid: number } {
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find((line) => line.startsWith(`${name}:`))?.split(':');
    if (account) return { uid: Number(account[2]), gid: Number(account[3]) };
  }
  throw new Error('expected an account postgres or nobody, got: none');
}

function missing(): string | undefined {
  if (bin === undefined) return 'needs PostgreSQL: apt-get install postgresql';
  const isOpen = (statSync('/dev/null').mode & 0o006) === 0o006;
  return isOpen ? undefined : "needs a /dev/null that PostgreSQL's account can open: chmod 666 /dev/null";
}

/** Gives a running server a self-signed certificate for these names. Returns the certificate's file. */
export async function serveOverTls(postgres: Postgres, url: string, names: string): Promise<string> {
  const files = makeCertificate(names);
  const [certificate, key] = [join(postgres.folder, 'server.crt'), join(postgres.folder, 'server.key')];
  copyFileSync(files.certificate, certificate);
  copyFileSync(files.key, key);
  for (const path of [certificate, key]) chownSync(path, postgres.uid, -1);
  for (const statement of [
    `ALTER SYSTEM SET ssl_cert_file = '${certificate}'`,
    `ALTER SYSTEM SET ssl_key_file = '${key}'`,
    'ALTER SYSTEM SET ssl = on',
    'SELECT pg_reload_conf()',
  ]) {
    await postgres.query(url, statement);
  }
  while ((await postgres.query(url, 'SHOW ssl'))[0]?.ssl !== 'on') await pause(20);
  return files.certificate;
}
