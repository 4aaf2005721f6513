import type { Ledger } from '../../../src/ledger/ledger.js';
import { claimStep, collectedRun, done, perform } from '../../contracts/ledger/days.js';
import { collectedFileRun, performUpTo } from '../../contracts/ledger/file-days.js';

/** What a released version has left behind: a run in the middle of a step, and one whose result is awaited. */
export async function leaveRuns(ledger: Ledger): Promise<void> {
  const body = await collectedRun(ledger, 'in-the-middle', { day: '2026-11-20' });
  await perform(ledger, body, 'batch 0', done);
  await claimStep(ledger, body, 'batch 1');
  const file = await collectedFileRun(ledger, 'awaiting', { day: '2026-11-21' });
  await performUpTo(ledger, file, 'trigger');
}
