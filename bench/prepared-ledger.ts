import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Ledger } from '../src/ledger/ledger.js';

import type { Measurement } from './comparison.js';
import { makeTemporaryFolder } from './harness/environment.js';
import { measureProcess } from './harness/measured-process.js';
import { type DatabaseKind, makeLedgerPlace } from './ledger-place.js';
import { fillLedger, type ManyDays } from './many-days.js';

const program = fileURLToPath(new URL('../dist/jobs/hotel-review.js', import.meta.url));

/** A folder with a ledger of many days and a configuration. */
export interface PreparedLedger {
  readonly bytes: number;
  open(): Ledger;
  /** Measures a command, start-up included, in milliseconds. */
  measureCommand(
    words: readonly string[],
    options?: { readonly expectedExitCode?: number },
  ): Promise<Measurement>;
  /** Starts `serve`, until `stop`. */
  serve(): Promise<{ readonly url: string; stop(): Promise<void> }>;
  close(): Promise<void>;
}

export async function prepareLedger(
  days: ManyDays,
  database: DatabaseKind = 'sqlite',
  { baseUrl = 'http://127.0.0.1:9' }: { readonly baseUrl?: string } = {},
): Promise<PreparedLedger> {
  const place = await makeLedgerPlace(database);
  const folder = makeTemporaryFolder();
  const configuration = join(folder.path, 'hotel-review.yaml');
  const ledger = place.open();
  await fillLedger(ledger, days);
  await ledger.close();
  await place.settle();
  await writeFile(
    configuration,
    JSON.stringify({
      service: { baseUrl, apiKey: 'bench', accountId: 'bench' },
      source: { kind: 'csv', path: 'bookings.csv' },
      ledger: place.url,
    }),
  );
  return {
    bytes: await place.measureBytes(),
    open: place.open,
    async measureCommand(words, { expectedExitCode = 0 } = {}) {
      const { wallSeconds, cpuSeconds, peakMb } = await measureProcess(
        [process.execPath, program, ...words, '--config', configuration],
        { cwd: folder.path, expectedExitCode },
      );
      return { value: wallSeconds * 1_000, cpuSeconds, peakMb };
    },
    async serve() {
      const words = [program, 'serve', '--port', '0', '--config', configuration];
      const child = spawn(process.execPath, words, { cwd: folder.path, stdio: ['ignore', 'pipe', 'ignore'] });
      const ended = once(child, 'exit');
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
      const url = /http:\S+(?=;)/.exec(line)?.[0];
      if (url === undefined) throw new Error(`expected the address of serve, got: ${line}`);
      return {
        url,
        async stop() {
          child.kill();
          await ended;
        },
      };
    },
    async close() {
      await place.remove();
      folder.remove();
    },
  };
}

/** Measures work in this process, in seconds unless another unit is requested. */
export async function measureWork(work: () => Promise<void>, unitsASecond = 1): Promise<Measurement> {
  const [startedAt, processor] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(processor);
  return {
    value: ((performance.now() - startedAt) / 1_000) * unitsASecond,
    cpuSeconds: (user + system) / 1e6,
  };
}
