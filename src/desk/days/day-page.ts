import * as z from 'zod';
import { readReport } from '../../review/day/report.js';
import type { RunLister, WaitReader } from '../../review/ledger.js';
import { html } from '../../text/html.js';
import { dayField } from '../routing/fields.js';
import { definePage, type Page } from '../routing/route.js';
import { runReport } from '../runs/run-report-schema.js';

const runsOfDay = 1_000;

/** A day: its runs, and what became of its bookings. */
export function createDayPage({ ledger }: { readonly ledger: RunLister & WaitReader }): Page {
  return definePage({
    path: '/days/:day',
    permission: 'look',
    summary: 'A business day and its runs, newest first',
    input: z.object({ day: dayField }),
    data: z.object({ runs: z.array(runReport) }),
    usually: 'data',
    async read({ day }, { now }) {
      const runs = await ledger.listRuns({ day, limit: runsOfDay });
      return { runs: await Promise.all(runs.map((run) => readReport(ledger, run, now))) };
    },
    render: ({ runs }) => ({
      title: 'Day',
      content: html`<ul>${runs.map(({ runId, state }) => html`<li><a href="/runs/${runId}">${runId}</a> ${state}</li>`)}</ul>`,
    }),
  });
}
