import { expect } from 'vitest';
import { day } from './business-day.js';
import type { Engine } from './engine.js';
import { expectError } from './expectations.js';
import { openSqliteTables } from './sqlite-tables.js';

/** One process with its queue in itself, and SQLite. */
export const embeddedEngine: Engine = {
  name: 'embedded',
  workers: 0,
  performers: 1,
  tracing: [],
  openPlace: async ({ ledgerFile }) => ({
    settings: {},
    openTables: () => openSqliteTables(ledgerFile),
    close: async () => {},
  }),
  async expectSecondRun(folder) {
    const busy = { exitCode: 4, class: 'busy', message: /2026-11-20 is being run by another process/ };
    expectError(await folder.runDay(), busy);
    expect((await folder.run(['run', '--day', day])).exitCode).toBe(4);
  },
};
