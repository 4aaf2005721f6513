import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { createKeyFolder } from '../../src/storage/key-folder.js';
import { describeLedgerContract } from '../contracts/ledger.js';
import { isNightly } from '../support/nightly.js';
import { usePostgres } from '../support/use-servers.js';
import { openPostgresLedger } from './opened-postgres.js';

const postgres = usePostgres();
const folder = mkdtempSync(join(tmpdir(), 'keys-'));
afterAll(() => rmSync(folder, { recursive: true }));

describeLedgerContract('PostgreSQL', { open: () => openPostgresLedger(postgres()) });
// What encrypts is the same code for both databases: outside the nightly suite, the contract of SQLite is enough.
if (isNightly)
  describeLedgerContract('PostgreSQL, encrypted', {
    open: () => openPostgresLedger(postgres(), { keys: createKeyFolder(join(folder, 'keys')) }),
  });
