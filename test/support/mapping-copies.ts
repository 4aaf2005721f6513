import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { describeMapping } from './mapping-truth.js';

/** What the local copy in that ledger holds, a line for each mapping that stands, in the order of the lines. */
export async function readCopy(ledgerFile: string): Promise<string[]> {
  const ledger = createSqliteLedger({
    path: ledgerFile,
    carriesReference: () => false,
    clock: Date.now,
    isOnlooker: true,
  });
  try {
    const lines: string[] = [];
    for (let after = 0; ; ) {
      const page = await ledger.mappings.listMappings({ after, limit: 1_000 });
      const last = page.at(-1);
      if (!last) return lines.sort();
      lines.push(...page.map(describeMapping));
      after = last.number;
    }
  } finally {
    await ledger.close();
  }
}
