import { describe } from 'vitest';
import { describeDeaths } from './describe-deaths.js';
import { listDeaths } from './every-death.js';
import { sqlite } from './sqlite-engine.js';

describe('with its ledger in SQLite', { timeout: 1_800_000 }, () =>
  describeDeaths(sqlite, { choose: listDeaths, pairs: 60 }),
);
