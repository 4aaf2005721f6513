import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { formatBytes } from '../../src/base/format.js';
import { UsageError } from '../../src/base/safe-error.js';
import { quoteForShell } from '../../src/base/shell.js';
import { copyLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { syncFolder } from '../../src/storage/durable-file.js';
import { command } from '../command.js';
import { exitCode } from '../exit-code.js';
import { writeNamedFile } from '../output-files.js';
import { showLedgerLocation } from '../parts.js';

/** Copies an SQLite ledger while it is in use. PostgreSQL's own program does that for a ledger there. */
export default command({
  place: ['running', 4],
  summary: 'copy the SQLite ledger to a new file, while other processes use it',
  usage: '<path>',
  arguments: (path: string) => ({ path }),
  examples: `
The copy is the ledger at one moment, in one file that only its owner can read.
It appears when it is complete, and replaces nothing. It holds guests' names
until you delete it. Of a ledger in PostgreSQL, pg_dump makes the copy; backup
says how to call it.

Example:
  hotel-review backup /backups/ledger-2026-11-21.db`,

  async run(app, { path }) {
    const { ledger } = app.config;
    const location = await showLedgerLocation(app.config);
    switch (ledger.kind) {
      case 'postgres':
        throw new UsageError(
          `the ledger is in PostgreSQL (${location}), which has its own program for this; run: ` +
            `(umask 077; pg_dump --format=custom --schema=hotel_review --file=${quoteForShell(path)} ${quoteForShell(location)}), ` +
            'with the password in ~/.pgpass or PGPASSWORD',
        );
      case 'sqlite': {
        const none = { ledger: location, out: null, bytes: null };
        if (!(await app.findLedger())) return app.answerNone(none);
        const out = app.locate(path);
        if ([ledger.path, `${ledger.path}-wal`, `${ledger.path}-shm`, `${ledger.path}-journal`].includes(out))
          throw new UsageError(`${path} is a file that SQLite uses for the ledger: name another`);
        await writeNamedFile({ option: 'backup', name: path }, app, async (_add, draft) => {
          // It may hold guests' names, so nothing is written without a record.
          await app.record({ action: 'backup', details: { out } });
          copyLedger(ledger.path, draft);
          // A signal that came meanwhile is only heard now, after the event loop has looked for it.
          await setTimeout(1);
        });
        syncFolder(dirname(out));
        const { size: bytes } = await stat(out);
        return app.answer(
          [
            `${path} (${formatBytes(bytes)}) is the ledger ${location} as it is now.`,
            "Keep it safe: it may hold guests' names for as long as you keep it.",
          ],
          { ledger: location, out, bytes },
          exitCode.done,
        );
      }
    }
  },
});
