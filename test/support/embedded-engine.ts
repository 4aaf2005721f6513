import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { day } from './business-day.js';
import type { Engine } from './engine.js';
import { expectError } from './expectations.js';
import { openSqliteTables } from './sqlite-tables.js';

const busy = { exitCode: 4, class: 'busy', message: /2026-11-20 is being run by another process/ };

/** One process with its queue in itself, and SQLite. */
export const embeddedEngine: Engine = {
  name: 'embedded',
  workers: 0,
  performers: 1,
  wordsOfStop: 'stopping',
  tracing: [],
  openPlace: async ({ ledgerFile }) => ({
    settings: {},
    openTables: () => openSqliteTables(ledgerFile),
    readQueue: async () => '',
    close: async () => {},
  }),
  async expectSecondRun(folder) {
    expectError(await folder.runDay(), busy);
    expect((await folder.run(['run', '--day', day])).exitCode).toBe(4);
  },
  tokensOfTakeOver: 1,
  async endOwnership(folder) {
    expectError(await folder.runDay(), busy);
    // What an operator does who knows that the owner will not come back.
    await rm(join(`${folder.ledgerFile}.locks`, `${day}.lock`));
  },
  async expectFencedWhenWoken(frozen) {
    frozen.kill('SIGCONT');
    const fenced = { exitCode: 4, class: 'busy', message: /was taken over by another process/ };
    expectError(await frozen.ended, fenced);
  },
};
