import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Postgres, postgresNeeds, startPostgres } from './postgres.js';

/** Starts a server for the tests of the current suite, and skips them where that is not possible. */
export function usePostgres(options: { readonly fsync?: boolean } = {}): () => Postgres {
  beforeEach(({ skip }) => skip(postgresNeeds !== undefined, postgresNeeds));
  let running: Postgres | undefined;
  beforeAll(async () => {
    if (postgresNeeds === undefined) running = await startPostgres(options);
  });
  afterAll(() => running?.remove());
  return () => {
    if (running === undefined) throw new Error('PostgreSQL was not started');
    return running;
  };
}
