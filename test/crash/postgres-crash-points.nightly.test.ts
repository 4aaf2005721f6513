import { describe } from 'vitest';
import { usePostgres } from '../support/use-servers.js';
import { describeDeaths } from './describe-deaths.js';
import { listDeaths } from './every-death.js';
import { onPostgres } from './postgres-engine.js';

const postgres = onPostgres(usePostgres());

describe('with its ledger in PostgreSQL', { timeout: 1_800_000 }, () =>
  describeDeaths(postgres, { choose: listDeaths, pairs: 60 }),
);
