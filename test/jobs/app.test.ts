import { expect, it } from 'vitest';
import { recordAction, recordLook } from '../../jobs/app.js';
import { createReports } from '../../jobs/reports.js';
import { createTerminal } from '../../jobs/terminal.js';
import { LedgerFullError } from '../../src/ledger/errors.js';
import { captureIo } from '../support/command-io.js';
import { fakeLedger } from '../support/fake-ledger.js';

it('a command refuses to show names where it cannot record that, and only warns where it shows none', async () => {
  const { io, stderr } = captureIo();
  const terminal = createTerminal({ reports: createReports(io.stdout, false), config: 'c.yaml', io });
  const full = fakeLedger({ audit: { record: () => Promise.reject(new LedgerFullError('l.db')) } });
  const action = { action: 'show', subject: 'BR-1' } as const;
  await expect(recordAction(full, action, terminal)).rejects.toThrow(
    "refused, because the audit trail can't record it: the disk of the ledger l.db is full",
  );
  await recordLook(full, action, terminal);
  expect(stderr.text()).toMatch(/^warning: the audit trail can't record this: the disk of the ledger l.db/);
});
