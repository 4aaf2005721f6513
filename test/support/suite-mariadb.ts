import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Mariadb, mariadbNeeds, startMariadb } from './mariadb.js';

/** Starts a server for the tests of the current suite, and skips them where that is not possible. */
export function useMariadb(): () => Mariadb {
  beforeEach(({ skip }) => skip(mariadbNeeds !== undefined, mariadbNeeds));
  let running: Mariadb | undefined;
  beforeAll(async () => {
    if (mariadbNeeds === undefined) running = await startMariadb();
  });
  afterAll(() => running?.remove());
  return () => {
    if (running === undefined) throw new Error('MariaDB was not started');
    return running;
  };
}
