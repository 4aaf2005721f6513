import { LedgerUnusableError } from './errors.js';
import { entities } from './ledger.js';
import type { SchemaWords } from './table.js';

const firstRows = ({ randomText }: SchemaWords) => [
  'INSERT INTO watched_moves (last_move) VALUES (0)',
  `INSERT INTO ledger_identity (id) VALUES (${randomText})`,
];

/**
 * The schema of version 1: all tables that the files of the entities export. A released version is never changed: later ones are scripts
 * of their own, see `schema.ts` of each database. Indexes of which the databases need another form are in `schema.ts` of each.
 */
export function createTables(words: SchemaWords): string {
  const tables = entities.flatMap((entity) =>
    Object.values<unknown>({ ...entity }).flatMap((found) => (isTable(found) ? [found.schema(words)] : [])),
  );
  // What others refer to refers to nothing itself, and comes first.
  const ordered = tables.sort((one, other) => countReferences(one) - countReferences(other));
  return `${[...ordered.flat(), ...firstRows(words)].join(';\n')};\n`;
}

const countReferences = (statements: readonly string[]) => Number(statements.join().includes('REFERENCES'));

function isTable(found: unknown): found is { schema(words: SchemaWords): string[] } {
  return typeof found === 'object' && found !== null && 'schema' in found;
}

/** @throws LedgerUnusableError for the schema of a newer version of this program */
export function expectKnown(version: number, newest: number, location: string): void {
  if (version <= newest) return;
  throw new LedgerUnusableError(
    location,
    `expected schema ${newest} or older, got: schema ${version}; install the newer version that wrote it`,
  );
}
