import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.js';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import type { Trigger } from '../../src/rules/run.js';
import type { Right } from '../../src/rules/step.js';

/** The real ledger, in a folder that is removed after the test. */
export async function openTemporaryLedger(
  clock: () => number = Date.now,
  keys: { readonly hashKey?: string } = {},
): Promise<Ledger> {
  const { ledger, remove } = await createTemporaryLedger(clock, keys);
  onTestFinished(remove);
  return ledger;
}

/** The same for as long as several tests read it. */
export async function createTemporaryLedger(clock: () => number, keys: { readonly hashKey?: string } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-test-'));
  const ledger: Ledger = createSqliteLedger({ path: join(folder, 'ledger.db'), clock, ...keys });
  async function remove(): Promise<void> {
    await ledger.close();
    await rm(folder, { recursive: true });
  }
  return { ledger, remove };
}

/** A new run of a day, by body. */
export async function openRun(ledger: Ledger, day: string, trigger: Trigger = 'manual'): Promise<Right> {
  const id = `run-of-${day}`;
  const { token } = await ledger.runs.create({
    id,
    day,
    delivery: 'body',
    trigger,
    startedAt: 1_000,
  });
  return { runId: id, token };
}
