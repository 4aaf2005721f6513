import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { at } from '../contracts/ledger/days.js';
import { mountSmallDisk, smallDiskNeeds } from '../support/machine.js';

describe('what SQLite leaves in its files of names that were removed', () => {
  describe('while something prevents a rewrite', () => {
    it('needs free disk for two more of it', async ({ skip }) => {
      skip(smallDiskNeeds !== undefined, smallDiskNeeds);
      const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
      mountSmallDisk(folder, 8_000);
      const path = join(folder, 'ledger.db');
      // Then all that it holds is in its one file.
      await createSqliteLedger({ path, clock: () => at }).close();
      const ledger = createSqliteLedger({ path, clock: () => at });
      onTestFinished(() => ledger.close());
      const { bavail, bsize } = statfsSync(folder);
      const other = join(folder, 'other');
      writeFileSync(other, Buffer.alloc(bavail * bsize - statSync(path).size));
      await ledger.audit.record({ action: 'show', subject: 'BR-1', at, who: 'ana' });
      await ledger.audit.replaceSubject('BR-1', 'erased:1');
      expect(await ledger.guests.clearRemains()).toMatchObject({
        why: expect.stringContaining('of free disk, and there is less'),
      });
      rmSync(other);
      expect(await ledger.guests.clearRemains()).toBeUndefined();
      expect(readdirSync(folder).filter((name) => name.startsWith('etilqs'))).toEqual([]);
    });
  });
});
