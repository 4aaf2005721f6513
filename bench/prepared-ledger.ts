import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSqliteLedger } from '../src/ledger/sqlite/sqlite-ledger.js';
import type { VerdictMailLedger } from '../src/verdict-mails/mail-log.js';
import type { Measurement } from './comparison.js';
import { measureProcess } from './harness/measured-process.js';
import { fillLedger, type ManyDays } from './many-days.js';

const program = fileURLToPath(new URL('../dist/jobs/hotel-review.js', import.meta.url));

/** A folder with a ledger of many days and a configuration. */
export interface PreparedLedger {
  readonly bytes: number;
  open(): VerdictMailLedger;
  /** Measures a command, start-up included, in milliseconds. */
  measureCommand(
    words: readonly string[],
    options?: { readonly expectedExitCode?: number },
  ): Promise<Measurement>;
  close(): Promise<void>;
}

export async function prepareLedger(days: ManyDays): Promise<PreparedLedger> {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-bench-'));
  const [path, configuration] = [join(folder, 'ledger.db'), join(folder, 'hotel-review.yaml')];
  await fillLedger(path, days);
  await writeFile(
    configuration,
    JSON.stringify({
      service: { baseUrl: 'http://127.0.0.1:9', apiKey: 'bench', accountId: 'bench' },
      source: { kind: 'csv', path: 'bookings.csv' },
      ledger: `sqlite:${path}`,
    }),
  );
  return {
    bytes: (await stat(path)).size,
    open: () => createSqliteLedger({ path, carriesReference: () => false, clock: Date.now }),
    async measureCommand(words, { expectedExitCode = 0 } = {}) {
      const { wallSeconds, cpuSeconds, peakMb } = await measureProcess(
        [process.execPath, program, ...words, '--config', configuration],
        { cwd: folder, expectedExitCode },
      );
      return { value: wallSeconds * 1_000, cpuSeconds, peakMb };
    },
    close: () => rm(folder, { recursive: true }),
  };
}

/** Measures work in this process, in seconds unless others are asked for. */
export async function measureWork(work: () => Promise<void>, unitsASecond = 1): Promise<Measurement> {
  const [startedAt, processor] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(processor);
  return {
    value: ((performance.now() - startedAt) / 1_000) * unitsASecond,
    cpuSeconds: (user + system) / 1e6,
  };
}
