import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { postgresNeeds } from '../../test/support/postgres.js';
import type { Comparison, Measurement, Scale } from '../comparison.js';
import { findTimeObstacle } from '../harness/measured-process.js';
import { type DatabaseKind, databaseTitles } from '../ledger-place.js';
import { type ManyDays, referenceOf } from '../many-days.js';
import { type PreparedLedger, prepareLedger } from '../prepared-ledger.js';
import { moveMappings } from './stays.js';

const standIn = fileURLToPath(new URL('../stand-ins/mappings-service.ts', import.meta.url));

interface MemoryOptions {
  readonly name: string;
  readonly work: string;
  readonly database: DatabaseKind;
  readonly atMostMb: number;
  readonly days: Readonly<Record<Scale, ManyDays>>;
  /** Adds to the ledger what the command works on. */
  readonly fill?: (prepared: PreparedLedger, scale: Scale) => Promise<void>;
  readonly words: readonly string[];
}

/** The peak memory of a command that looks at very much of a ledger. */
function createMemoryComparison(options: MemoryOptions): Comparison {
  const { name, work, database, atMostMb, days, fill, words } = options;
  return {
    name,
    work: `peak memory of ${work}, on ${databaseTitles[database]}`,
    against: '–',
    unit: 'MB',
    reach: { ours: { atMost: atMostMb, unit: 'MB' } },
    // A second sync would find the cases open.
    rounds: 1,
    findObstacle: () => findTimeObstacle() ?? (database === 'postgres' ? postgresNeeds : undefined),
    async prepare(scale) {
      const service = fork(standIn, ['1'], { execArgv: ['--import', 'tsx'] });
      const [port] = await once(service, 'message');
      const baseUrl = `http://127.0.0.1:${port}/api/3.0`;
      const prepared = await prepareLedger(days[scale], database, { baseUrl });
      await fill?.(prepared, scale);
      return {
        ours: {
          name: 'booked-hotel review',
          async run(): Promise<Measurement> {
            const measured = await prepared.measureCommand(words);
            return { ...measured, value: measured.peakMb ?? 0 };
          },
        },
        notes: ['Peak resident memory, program and libraries included.'],
        async close() {
          service.disconnect();
          await prepared.close();
        },
      };
    },
  };
}

const moved = { full: { days: 40, bookings: 10_000 }, quick: { days: 4, bookings: 1_000 } };

/** A sync after which very many stays are in danger. */
const createMovedMemory = (name: string, database: DatabaseKind) =>
  createMemoryComparison({
    ...{ name, database, atMostMb: 250, days: moved },
    work: '`mappings sync` after 10,000 hotels with 400,000 stays moved',
    async fill(prepared, scale) {
      const ledger = prepared.open();
      await moveMappings(ledger, moved[scale].bookings);
      await ledger.close();
    },
    words: ['mappings', 'sync'],
  });

const createExportMemory = (name: string, database: DatabaseKind) =>
  createMemoryComparison({
    ...{ name, database, atMostMb: 150 },
    work: '`guest export` in a ledger of 50,000 runs',
    days: { full: { days: 50_000, bookings: 1 }, quick: { days: 1_000, bookings: 1 } },
    words: ['guest', 'export', referenceOf(7, 0)],
  });

export const memoryComparisons: readonly Comparison[] = [
  createMovedMemory('moved-memory', 'sqlite'),
  createMovedMemory('moved-memory-postgres', 'postgres'),
  createExportMemory('export-memory', 'sqlite'),
  createExportMemory('export-memory-postgres', 'postgres'),
];
