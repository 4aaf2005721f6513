export type TableRow = Readonly<Record<string, unknown>>;

/** The tables of a ledger, past the ledger's own code: one connection, to look and to hold it. */
export interface LedgerTables {
  rows(sql: string): Promise<TableRow[]>;
  /** From now on no process can write to the ledger. */
  hold(): Promise<void>;
  release(): Promise<void>;
  /** What the database itself can find wrong in them. */
  expectSound(): Promise<void>;
  close(): Promise<void>;
}
