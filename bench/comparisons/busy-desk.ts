import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { postgresNeeds } from '../../test/support/postgres.js';
import type { Comparison } from '../comparison.js';
import { findTimeObstacle } from '../harness/measured-process.js';
import { type DatabaseKind, databaseTitles } from '../ledger-place.js';
import { fillCases } from '../made-cases.js';
import { prepareLedger } from '../prepared-ledger.js';

const sizes = {
  full: { days: { days: 12, bookings: 20_000 }, cases: { cases: 4_400, bookingsOfEach: 1 }, eachMs: 5_000 },
  quick: { days: { days: 12, bookings: 1_000 }, cases: { cases: 4_400, bookingsOfEach: 1 }, eachMs: 1_000 },
};

/** What is asked for by so many connections at once. */
const hammered = [
  { path: '/', connections: 8 },
  { path: '/cases', connections: 8 },
  { path: '/cases.csv', connections: 8 },
  { path: '/days/2026-11-02', connections: 8 },
  { path: '/providers', connections: 8 },
  { path: '/metrics', connections: 63 },
];

/** A few visitors ask for the largest pages without a pause: how late is a probe? */
export function createBusyDeskComparison(name: string, database: DatabaseKind): Comparison {
  return {
    name,
    work: `the slowest answer of /healthz while 8 connections ask for the largest pages of 4,400 cases, and 63 for the metrics, on ${databaseTitles[database]}`,
    against: '–',
    unit: 'ms',
    reach: { ours: { atMost: 200, unit: 'ms' } },
    rounds: 3,
    findObstacle: () => findTimeObstacle() ?? (database === 'postgres' ? postgresNeeds : undefined),
    async prepare(scale) {
      const { days, cases, eachMs } = sizes[scale];
      const prepared = await prepareLedger(days, database);
      const ledger = prepared.open();
      await fillCases(ledger, cases);
      await ledger.close();
      const { url, stop } = await prepared.serve();
      return {
        ours: {
          name: 'booked-hotel review',
          async run() {
            let slowest = 0;
            for (const { path, connections } of hammered)
              slowest = Math.max(slowest, await probeWhile(url, path, connections, eachMs));
            return { value: slowest };
          },
        },
        notes: [`${hammered.map(({ path }) => path).join(', ')}, one after the other.`],
        async close() {
          await stop();
          await prepared.close();
        },
      };
    },
  };
}

const probeEveryMs = 20;

/** Over a connection of its own. The status, once all has been read; 0 where the server cut it for another caller. */
function ask(address: string): Promise<number> {
  return new Promise((resolve) => {
    get(address, { agent: false, headers: { accept: 'text/html' } }, (response) =>
      response.resume().once('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 0)),
    ).once('error', () => resolve(0));
  });
}

/** The slowest answer of a probe, in milliseconds. */
async function probeWhile(url: string, path: string, connections: number, forMs: number): Promise<number> {
  const ending = AbortSignal.timeout(forMs);
  const hammer = async () => {
    while (!ending.aborted) if ((await ask(url + path)) !== 200) await pause(probeEveryMs);
  };
  const hammering = Promise.all(Array.from({ length: connections }, hammer));
  let slowest = 0;
  while (!ending.aborted) {
    const startedAt = performance.now();
    if ((await ask(`${url}/healthz`)) !== 200) throw new Error('expected an answer of /healthz');
    slowest = Math.max(slowest, performance.now() - startedAt);
    await pause(probeEveryMs);
  }
  await hammering;
  return slowest;
}
