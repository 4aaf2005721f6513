import { join } from 'node:path';
import Libsql from 'libsql';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { readReference } from '../../src/review/stored/stored-line.js';
import { type Engine, toBegunStep } from './live.js';
import { leaseMs } from './process.js';

export const sqlite: Engine = {
  commitsAtOnce: true,

  async openPlace(folder) {
    const path = join(folder, 'ledger.db');
    return {
      open: (clock) =>
        createSqliteLedger({
          ...{ path, clock, leaseMs },
          carriesReference: (line, form, reference) => readReference(line, form) === reference,
        }),
      async bury() {
        const database = openDatabase(path, { busyTimeoutMs: 0 });
        try {
          const tables = database.all("SELECT name FROM sqlite_master WHERE name = 'steps'");
          if (tables.length === 0) return undefined;
          const row = database.get("SELECT name, attempts, bookings FROM steps WHERE state = 'running'");
          return row && toBegunStep(row);
        } finally {
          database.close();
        }
      },
      remove: async () => {},
    };
  },

  /** The one way in which the ledger commits. */
  countCommits(current) {
    const { exec } = Libsql.prototype;
    Libsql.prototype.exec = function (this: Libsql.Database, sql: string) {
      if (sql !== 'COMMIT') return exec.call(this, sql);
      const { life, onCommit } = current();
      return life.passAtOnce('commit', () => {
        const done = exec.call(this, sql);
        onCommit();
        return done;
      });
    };
    return () => {
      Libsql.prototype.exec = exec;
    };
  },
};
