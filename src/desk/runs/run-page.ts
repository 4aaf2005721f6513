import * as z from 'zod';
import { readReport } from '../../review/day/report.js';
import type { RunReader, WaitReader } from '../../review/ledger.js';
import type { Run } from '../../review/run.js';
import { HttpError } from '../../server/http-error.js';
import { html } from '../../text/html.js';
import { definePage, type Page } from '../routing/route.js';
import { runReport } from './run-report-schema.js';

/** A run: its steps on a time line, why it is pending, and its counts. */
export function createRunPage({ ledger }: { readonly ledger: RunReader & WaitReader }): Page {
  return definePage({
    path: '/runs/:id',
    permission: 'look',
    summary: 'A run, as `run --json` reports it',
    input: z.object({ id: z.string() }),
    data: runReport,
    usually: 'data',
    async read({ id }, { now }) {
      return readReport(ledger, await findShownRun(ledger, id), now);
    },
    render: ({ day, runId, state }) => ({
      title: `Run ${runId}`,
      content: html`<p>${day}: ${state}</p>`,
    }),
  });
}

/** The form of run ids; anything else needs no query to the ledger. */
const runName = /^[\w.-]{1,64}$/;

/** @throws HttpError 404 */
export async function findShownRun(ledger: Pick<RunReader, 'findRun'>, id: string): Promise<Run> {
  const run = runName.test(id) ? await ledger.findRun(id) : undefined;
  if (!run) throw new HttpError(404, 'the ledger holds no run of that name');
  return run;
}
