import { describe } from 'vitest';
import { usePostgres } from '../support/use-servers.js';
import { describeDeaths } from './describe-deaths.js';
import { listDeaths } from './every-death.js';
import { onPostgres } from './postgres-engine.js';

const postgres = onPostgres(usePostgres());

describe('with its ledger in PostgreSQL', { timeout: 1_800_000 }, () =>
  // Half of them: each takes three times as long as on SQLite, and the night has one hour.
  describeDeaths(postgres, {
    choose: (lived, random) => listDeaths(lived).filter(() => random() < 0.5),
    pairs: 30,
  }),
);
