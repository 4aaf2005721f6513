import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { findPostgresProgram, startPostgres } from '../../support/postgres.js';
import { openSqliteLedger } from '../opened-ledger.js';
import { openNewPostgresLedger } from '../opened-postgres.js';
import { leaveRuns } from './runs.js';

/**
 * Keeps the ledgers that a version leaves behind, for the tests of later ones: `npx tsx test/ledger/released/make.ts 1.0`, once, when a
 * version with a new schema is released.
 */
const [version = ''] = process.argv.slice(2);
const keep = (extension: string, content: Uint8Array | string) =>
  writeFileSync(fileURLToPath(new URL(`${version}.${extension}.gz`, import.meta.url)), gzipSync(content));

const sqlite = await openSqliteLedger();
await leaveRuns(sqlite.ledger);
await sqlite.ledger.close();
keep('db', readFileSync(sqlite.path));
await sqlite.cleanUp();

const server = await startPostgres();
const opened = await openNewPostgresLedger(server);
await leaveRuns(opened.ledger);
const options = ['--schema=hotel_review', '--no-owner', '--no-privileges', '--inserts'];
keep('sql', execFileSync(findPostgresProgram('pg_dump'), [...options, opened.url]));
await opened.cleanUp();
await server.remove();
