import * as z from 'zod';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { Run } from '../rules/run.js';
import { HttpError } from './server/http-error.js';

/** The address of a run. */
export const runInput = z.object({ id: z.string() });

/** Anything else needs no query to the ledger. */
export const isRunName = (id: string) => /^[\w.-]{1,64}$/.test(id);

/** @throws HttpError 404 */
export async function findShownRun(ledger: ReadOnlyLedger, id: string): Promise<Run> {
  const run = isRunName(id) ? await ledger.runs.find(id) : undefined;
  if (!run) throw new HttpError(404, 'the ledger holds no run of that name');
  return run;
}
