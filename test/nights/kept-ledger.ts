import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLedger } from '../../jobs/parts.js';
import type { Config } from '../../src/config/load.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { LedgerPlace } from '../crash/live.js';

/** The ledger's files as a backup has them, and how much had happened when it was made. */
export interface LedgerCopy {
  /** Entries of the journal. */
  readonly entries: number;
  /** By day, the run that awaited a result. */
  readonly awaiting: ReadonlyMap<number, string>;
  readonly files: ReadonlyMap<string, Buffer>;
}

interface KeptParts {
  readonly folder: string;
  readonly config: Config;
  readonly place: LedgerPlace;
  readonly clock: () => number;
  /** Whether copies may be restored. */
  readonly hasCopies: boolean;
}

/** Nobody keeps more copies. */
const most = 10;

/** SQLite makes the `-shm` anew. */
const ends = ['', '-wal', '-shm'] as const;

export type KeptLedger = ReturnType<typeof keepLedger>;

/** The ledger as the process that works has it open, and copies of it. */
export function keepLedger({ folder, config, place, clock, hasCopies }: KeptParts) {
  const path = join(folder, 'ledger.db');
  const copies: LedgerCopy[] = [];
  let ledger: Ledger | undefined = place.open(clock);
  /** No process has lived since the last copy was made. */
  let isCopied = true;

  return {
    /** Undefined if there is none. */
    find: () => ledger,
    get(): Ledger {
      if (!ledger) throw new Error('there is no ledger');
      return ledger;
    },
    /** As the product does: unless somebody adopts it, it is refused where the archive knows another one. */
    async create(adopts: boolean): Promise<Ledger> {
      await (await openLedger(config, { adopts })).close();
      ledger = place.open(clock);
      return ledger;
    },
    noteLife(): void {
      isCopied = false;
    },
    /** Opens it as a process left it that died. */
    async bury(): Promise<void> {
      await ledger?.close().catch(() => {});
      await place.bury();
      ledger &&= place.open(clock);
    },
    copy(entries: number, awaiting: ReadonlyMap<number, string>): void {
      isCopied = true;
      if (!hasCopies) return;
      const kept = ends.slice(0, 2).filter((end) => existsSync(`${path}${end}`));
      const files = new Map(kept.map((end) => [end as string, readFileSync(`${path}${end}`)]));
      copies.push({ entries, awaiting: new Map(awaiting), files });
      if (copies.length > most) copies.shift();
    },
    /** The latest ones, so many and one more. */
    listCopies: (count: number): readonly LedgerCopy[] => copies.slice(-1 - count),
    /** Puts a copy in its place, or removes it. Returns whether that is what it was. */
    async restore(copy: LedgerCopy | undefined): Promise<boolean> {
      await ledger?.close();
      for (const end of ends) rmSync(`${path}${end}`, { force: true });
      for (const [end, bytes] of copy?.files ?? []) writeFileSync(`${path}${end}`, bytes, { mode: 0o600 });
      ledger = copy && place.open(clock);
      return isCopied && copy === copies.at(-1);
    },
    async close(): Promise<void> {
      await ledger?.close();
      await place.remove();
    },
  };
}
