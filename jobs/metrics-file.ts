import { resolve } from 'node:path';
import { Gauge, Registry } from 'prom-client';
import { answerWithin } from '../src/base/abort.js';
import { print } from '../src/base/foreign-text.js';
import { codeOf } from '../src/base/safe-error.js';
import type { Config } from '../src/config/load.js';
import {
  createLedgerGauges,
  type LedgerFacts,
  type NameAges,
  readLedgerFacts,
} from '../src/desk/server/ledger-metrics.js';
import type { ReadOnlyLedger } from '../src/ledger/ledger.js';
import { findOldestNames } from '../src/review/stored/retention.js';
import { clock } from './clock.js';
import { exitCode } from './exit-code.js';
import { describeFailure } from './failure.js';
import { replaceFile } from './output-files.js';
import { findLedger, openArchive, openSpool } from './parts.js';
import type { CommandIo } from './process.js';

/** How long each question to the ledger and the archive may delay the end of the command. */
const answerMs = 10_000;
/** Someone who pressed Ctrl-C must not wait. */
const stoppedAnswerMs = 1_000;

/**
 * Performs a run and, however it ends, writes its metrics for node_exporter. The file only serves monitoring: failing
 * to write it does not change how the run ended.
 *
 * @param file as it was typed
 * @param run passes the configuration to `note` once it has been read
 */
export async function withMetricsFile(
  file: string,
  { cwd, stderr, signal }: CommandIo,
  run: (note: (config: Config) => void) => Promise<number>,
): Promise<number> {
  const startedAt = clock();
  let config: Config | undefined;
  let code: number = exitCode.failed;
  try {
    code = await run((read) => {
      config = read;
    });
    return code;
  } catch (error) {
    code = describeFailure(error).exitCode;
    throw error;
  } finally {
    const ended = { startedAt, endedAt: clock(), exitCode: code };
    const within = signal.aborted ? stoppedAnswerMs : answerMs;
    try {
      const after = config && (await readAfterRun(config, within));
      await replaceFile(resolve(cwd, file), await renderRunMetrics(ended, after));
    } catch (error) {
      print(stderr, `warning: --metrics-file: ${file} can't be written (${codeOf(error) ?? 'unknown'})\n`);
    }
  }
}

/** Reopens the ledger, which the run has closed. What does not answer in time is left out. */
async function readAfterRun(config: Config, within: number): Promise<AfterRun> {
  const { timezone } = config;
  const ask = <Answer>(answer: Promise<Answer>) => answerWithin(within, answer).catch(() => undefined);
  const ledger = await ask(findLedger(config, { waits: false }));
  if (!ledger) return { facts: undefined, names: [], timezone };
  const facts = await ask(readFacts(config, ledger));
  const names = facts && (await ask(findNames(config, ledger)));
  await ask(ledger.close());
  return { facts, names: names ?? [], timezone };
}

/** What the ledger says after it, if it could be read. */
interface AfterRun {
  readonly facts: LedgerFacts | undefined;
  readonly names: NameAges;
  readonly timezone: string;
}

/**
 * The metrics of a run that has ended, in Prometheus' text format: how it ended, and those of the ledger. What the process
 * counted is left out: a counter that begins anew with each run can't be compared over time.
 *
 * @param ended instants are epoch milliseconds
 * @param after undefined without a configuration that says where the ledger is
 */
export function renderRunMetrics(
  { startedAt, endedAt, exitCode }: Readonly<Record<'startedAt' | 'endedAt' | 'exitCode', number>>,
  after: AfterRun | undefined,
): Promise<string> {
  const registry = new Registry();
  const set = (name: string, help: string, value: number) =>
    new Gauge({ name: `hotel_review_last_run_${name}`, help, registers: [registry] }).set(value);
  set('timestamp_seconds', 'When the last `run` ended, in seconds since 1970', endedAt / 1000);
  set('duration_seconds', 'How long it took', Math.max(0, endedAt - startedAt) / 1000);
  set(
    'exit_code',
    'Its exit code: 0 done, 1 failed, 2 usage or configuration, 3 result pending, 4 busy, 5 to be accepted',
    exitCode,
  );
  if (after) {
    createLedgerGauges(registry, after.timezone).show(after.facts, after.names, endedAt);
  }
  return registry.metrics();
}

/** The facts about a ledger that metrics report, over HTTP or in a file. */
export function readFacts({ timezone }: Config, ledger: ReadOnlyLedger): Promise<LedgerFacts> {
  return readLedgerFacts(ledger, { now: clock(), timezone });
}

/** The oldest guest names in each place, for the same metrics. */
export function findNames(config: Config, ledger: ReadOnlyLedger): Promise<NameAges> {
  const stores = { ledger, archive: openArchive(config), spool: openSpool(config) };
  return findOldestNames(stores, { now: clock(), timezone: config.timezone });
}
