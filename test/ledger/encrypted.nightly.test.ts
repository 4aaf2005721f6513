import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { createKeyFolder } from '../../src/storage/day-keys.js';
import { describeLedgerContract } from '../contracts/ledger.js';
import { usePostgres } from '../support/use-servers.js';
import { openSqliteLedger } from './opened-ledger.js';
import { openPostgresLedger } from './opened-postgres.js';

const postgres = usePostgres();
const folder = mkdtempSync(join(tmpdir(), 'keys-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Without it, rejects of an encrypted ledger cannot be found by their reference. */
const hashKey = 'a key of the tests';

describeLedgerContract('SQLite, encrypted', {
  open: () => openSqliteLedger({ isEncrypted: true, hashKey }),
});
describeLedgerContract('PostgreSQL, encrypted', {
  open: () => openPostgresLedger(postgres(), { keys: createKeyFolder(join(folder, 'keys')), hashKey }),
});
