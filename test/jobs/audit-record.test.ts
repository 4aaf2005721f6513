import { describe, expect, it } from 'vitest';
import { recordAction, recordLook } from '../../jobs/app.js';
import { createTerminal, type Terminal } from '../../jobs/terminal.js';
import { LedgerFullError } from '../../src/ledger/errors.js';
import { createReports } from '../../src/text/reports.js';
import { captureIo } from '../support/command-io.js';
import { fakeLedger } from '../support/fake-ledger.js';

const action = { action: 'show', subject: 'BR-1' } as const;
const full = fakeLedger({ audit: { record: () => Promise.reject(new LedgerFullError('l.db')) } });

function openTerminal(): { terminal: Terminal; stderr: { text(): string } } {
  const { io, stdout, stderr } = captureIo();
  const reports = createReports(stdout.stream, false);
  return { terminal: createTerminal({ config: 'c.yaml', reports, io }), stderr };
}

describe('an action that cannot be recorded', () => {
  it('is refused if it reveals names', async () => {
    await expect(recordAction(full, action, openTerminal().terminal)).rejects.toThrow(
      "refused, because the audit trail can't record it: the disk of the ledger l.db is full",
    );
  });

  it('continues with a warning if it shows no names', async () => {
    const { terminal, stderr } = openTerminal();
    await recordLook(full, action, terminal);
    expect(stderr.text()).toMatch(/^warning: the audit trail can't record this: the disk of the ledger l.db/);
  });
});
