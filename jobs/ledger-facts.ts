import type { Config } from '../src/config/load.js';
import type { BatchSampler } from '../src/review/ledger.js';
import { findOldestNames, type KeptNames } from '../src/review/stored/oldest-names.js';
import { type FactsLedger, type LedgerFacts, readLedgerFacts } from '../src/server/ledger-facts.js';
import { clock } from './clock.js';
import { openArchive, openSpool } from './parts.js';

/** The facts about a ledger that metrics report, over HTTP or in a file. */
export function readFacts({ timezone }: Config, ledger: FactsLedger): Promise<LedgerFacts> {
  return readLedgerFacts(ledger, { now: clock(), timezone });
}

/** The oldest guest names in each place, for the same metrics. */
export function findNames(config: Config, ledger: FactsLedger & BatchSampler): Promise<readonly KeptNames[]> {
  const places = { ledger, archive: openArchive(config), spool: openSpool(config) };
  return findOldestNames(places, { now: clock(), timezone: config.timezone });
}
