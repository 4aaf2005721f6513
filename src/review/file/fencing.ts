import { FencedError } from '../ledger.js';
import type { FileAttempt, FileParts } from './file-parts.js';
import { removeSpooled } from './spooled-file.js';

/**
 * To be called right before anything that can't be taken back: an owner that slept through the end of its right must
 * not remove, replace or trigger what is the new owner's.
 *
 * @throws FencedError
 */
export async function expectClaim(
  { ledger }: Pick<FileParts, 'ledger'>,
  { claim, run }: Pick<FileAttempt, 'claim' | 'run'>,
): Promise<void> {
  if (!(await ledger.holdsClaim(claim))) throw new FencedError(run.id);
}

/**
 * To be called after a step: where the run was taken over and ended meanwhile, what the step spooled since, guests'
 * names and all, would stay. While the new owner is at it the files are its own, and it removes them.
 */
export async function removeSpooledTooLate(
  { ledger, spool }: Pick<FileParts, 'ledger' | 'spool'>,
  { claim, run }: Pick<FileAttempt, 'claim' | 'run'>,
): Promise<void> {
  if (await ledger.holdsClaim(claim)) return;
  const { state } = await ledger.getRun(run.id);
  if (state !== 'succeeded' && state !== 'cancelled') return;
  await removeSpooled(spool, run.id);
}
