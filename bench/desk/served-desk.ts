import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createUsers, openUsersFile } from '../../src/access/users-file.js';
import { isActive, type Run } from '../../src/review/run.js';
import { writeFileDay } from '../file-day.js';
import { makeTemporaryFolder } from '../harness/environment.js';
import { startJsonService } from '../stand-ins/start-json-service.js';
import { specialDays } from './planned-runs.js';
import { timezone, type YearsLedger } from './years-ledger.js';

const built = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));
const userHeader = 'x-forwarded-user';
const userName = 'bench';
const checkMs = 100;
/** Of each answer of the service. */
export const latencyMs = 50;

/** `serve` over a ledger, in a process of its own, and somebody who may see everything. */
export interface ServedDesk {
  /** Loads a page to its last byte. */
  load(address: string): Promise<LoadedPage>;
  /** Replays a day of many bookings as an operator does, in the process that serves the pages; resolves when it has ended. */
  replay(): Promise<Run>;
  close(): Promise<void>;
}

export interface LoadedPage {
  /** Of HTTP; 200 is a page. */
  readonly status: number;
  readonly milliseconds: number;
  readonly bytes: number;
}

/** @param bookings of the day that is replayed */
export async function serveDesk(years: YearsLedger, bookings: number): Promise<ServedDesk> {
  const { path: folder, remove } = makeTemporaryFolder();
  await years.place.start();
  const service = await startJsonService();
  const { worked } = specialDays(years.today);
  await writeFileDay(join(folder, 'bookings.csv'), { day: worked, bookings });
  const configuration = await configure(folder, { baseUrl: service.baseUrl, ledger: years.place.url });
  await service.begin({ latencyMs, parses: false });
  const server = spawn(process.execPath, [built, 'serve', '--port', '0', '--config', configuration], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(server, 'exit');
  const kill = () => server.kill('SIGKILL');
  process.once('exit', kill);
  const url = await readAddress(server);
  const ledger = years.place.open();
  const headers = { [userHeader]: userName };
  const replayPath = `${url}/days/${worked}/replay`;

  async function ask<Answer>(init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(replayPath, {
      ...init,
      headers: { ...headers, accept: 'application/json' },
    });
    if (!response.ok) throw new Error(`${replayPath}: ${response.status}: ${await response.text()}`);
    return (await response.json()) as Answer;
  }

  return {
    async load(address) {
      const startedAt = performance.now();
      const response = await fetch(url + address, {
        headers: { ...headers, accept: 'text/html' },
        redirect: 'manual',
      });
      const { byteLength } = await response.arrayBuffer();
      const milliseconds = performance.now() - startedAt;
      return { status: response.status, milliseconds, bytes: byteLength };
    },
    async replay() {
      const before = await ledger.latestRun(worked);
      const { seen, token } = await ask<{ seen: string; token: string }>();
      const body = new URLSearchParams({ seen, token, reason: 'bench' });
      await ask({ method: 'POST', body });
      for (;;) {
        const run = await ledger.latestRun(worked);
        if (run && run.id !== before?.id && !isActive(run)) {
          if (run.state !== 'succeeded' || run.counts.delivered !== bookings)
            throw new Error(`expected ${bookings} delivered bookings, got: ${JSON.stringify(run)}`);
          return run;
        }
        await pause(checkMs);
      }
    },
    async close() {
      process.removeListener('exit', kill);
      server.kill('SIGTERM');
      await ended;
      await ledger.close();
      await service.close();
      await years.place.stop();
      remove();
    },
  };
}

async function configure(
  folder: string,
  { baseUrl, ledger }: { readonly baseUrl: string; readonly ledger: string },
): Promise<string> {
  const users = join(folder, 'users.json');
  openUsersFile(users).replace({ ...createUsers(), users: [{ name: userName, role: 'admin' }] });
  const path = join(folder, 'hotel-review.yaml');
  const settings = {
    ...{ timezone, ledger },
    service: { baseUrl, apiKey: 'bench', accountId: 'bench' },
    source: { kind: 'csv', path: join(folder, 'bookings.csv') },
    // The days stay as they are: none is reviewed by itself, and nothing is removed for its age.
    schedule: { catchUpDays: 0, resumeMinutes: 1_440 },
    guestNameDays: 36_500,
    recordDays: 36_500,
    server: { users, signIn: { header: userHeader, proxies: ['127.0.0.1'] } },
  };
  await writeFile(path, JSON.stringify(settings));
  return path;
}

/** @throws Error when it ends instead */
async function readAddress(server: ChildProcess): Promise<string> {
  let output = '';
  for (const stream of [server.stdout, server.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  for (;;) {
    const url = /Serving on (\S+);/.exec(output)?.[1];
    if (url !== undefined) return url;
    if (server.exitCode !== null) throw new Error(`serve ended with ${server.exitCode}: ${output}`);
    await pause(checkMs);
  }
}
