import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import mysql from 'mysql2';
import { fillFolder } from './prepared-folder.js';
import { findFreePort } from './sftp-server.js';

const program = ['/usr/sbin/mariadbd', '/usr/libexec/mariadbd'].find((path) => existsSync(path));

/** What is missing here to start a server of our own. */
export const mariadbNeeds =
  program !== undefined &&
  spawnSync('mariadb-install-db', ['--help'], { stdio: 'ignore' }).error === undefined
    ? undefined
    : 'needs MariaDB: apt-get install mariadb-server';

export const mariadbUser = 'hotel';
export const mariadbPassword = 'pa55-w0rd/@';

export interface Mariadb {
  readonly port: number;
  readonly socket: string;
  /** Creates an empty database and returns its URL over TCP, with its user's password. */
  createDatabase(): Promise<string>;
  /** The same database with another login or another port. */
  urlWith(
    url: string,
    login: { readonly user?: string; readonly password?: string; readonly port?: number },
  ): string;
  /** Runs a statement as the server's root, bypassing the source. */
  query(url: string, sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Stops it as a power failure would. */
  stop(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts a server in a new folder; it never waits for the disk. */
export async function startMariadb({
  certificate,
}: {
  readonly certificate?: { readonly certificate: string; readonly key: string };
} = {}): Promise<Mariadb> {
  if (program === undefined) throw new Error(`${mariadbNeeds}`);
  const path = program;
  // The folder has a short name: a socket's path has at most 107 characters.
  const folder = mkdtempSync('/tmp/my-');
  const data = join(folder, 'data');
  const socket = join(folder, 'socket');
  const log = join(folder, 'log');
  const user = `--user=${userInfo().username}`;
  fillFolder(data, `mariadb-${userInfo().uid}-${statSync(path).mtimeMs}`, () =>
    execFileSync(
      'mariadb-install-db',
      ['--no-defaults', `--datadir=${data}`, user, '--auth-root-authentication-method=normal'].concat([
        '--skip-test-db',
      ]),
      { stdio: 'ignore' },
    ),
  );
  const port = await findFreePort();
  let server: ChildProcess | undefined;
  let databases = 0;

  function query(
    database: string | undefined,
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<Record<string, unknown>[]> {
    return new Promise((resolve, reject) => {
      const connection = mysql.createConnection({
        socketPath: socket,
        user: 'root',
        multipleStatements: true,
        ...(database !== undefined && { database }),
      });
      // The server may be stopped halfway.
      connection.on('error', reject);
      connection.query(sql, [...values], (error, rows) => {
        connection.destroy();
        if (error) reject(error);
        else resolve(Array.isArray(rows) ? (rows as Record<string, unknown>[]) : []);
      });
    });
  }

  const mariadb: Mariadb = {
    port,
    socket,
    async createDatabase() {
      databases += 1;
      await query(undefined, `CREATE DATABASE day_${databases}`);
      return mariadb.urlWith(`mysql://127.0.0.1/day_${databases}`, {});
    },
    urlWith(url, login) {
      const changed = new URL(url);
      changed.username = login.user ?? mariadbUser;
      changed.password = encodeURIComponent(login.password ?? mariadbPassword);
      changed.port = String(login.port ?? port);
      return changed.href;
    },
    query: (url, sql, values) => query(new URL(url).pathname.slice(1), sql, values),
    async stop() {
      if (!server) return;
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
      server = undefined;
    },
    async start() {
      const started = spawn(
        path,
        [
          '--no-defaults',
          `--datadir=${data}`,
          `--socket=${socket}`,
          `--port=${port}`,
          '--bind-address=127.0.0.1',
          user,
          `--log-error=${log}`,
          `--pid-file=${join(folder, 'pid')}`,
          '--innodb-flush-log-at-trx-commit=0',
          '--innodb-buffer-pool-size=32M',
          '--character-set-server=utf8mb4',
          // Exposes any reliance on the server's own zone.
          '--default-time-zone=+05:45',
          ...(certificate
            ? [`--ssl-cert=${certificate.certificate}`, `--ssl-key=${certificate.key}`]
            : ['--skip-ssl']),
        ],
        { stdio: 'ignore', cwd: '/' },
      );
      server = started;
      // It ends with this process, even if nobody stops it.
      const kill = () => started.kill('SIGKILL');
      process.once('exit', kill);
      started.once('exit', () => process.removeListener('exit', kill));
      for (;;) {
        if (started.exitCode !== null) {
          throw new Error(`the server ended as soon as it was started: ${readFileSync(log, 'utf8')}`);
        }
        try {
          await query(undefined, 'SELECT 1');
          return;
        } catch {
          await pause(50);
        }
      }
    },
    async remove() {
      await mariadb.stop();
      rmSync(folder, { recursive: true });
    },
  };
  await mariadb.start();
  await query(
    undefined,
    `CREATE USER '${mariadbUser}'@'%' IDENTIFIED BY '${mariadbPassword}'; GRANT ALL ON *.* TO '${mariadbUser}'@'%'`,
  );
  return mariadb;
}
