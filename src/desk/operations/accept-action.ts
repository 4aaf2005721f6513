import * as z from 'zod';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { isToBeAccepted, type Run } from '../../ledger/run.js';
import { describeDrops } from '../../review/gates.js';
import { html } from '../../text/html.js';
import { UsageError } from '../../text/usage-error.js';
import { dayField } from '../fields.js';
import { type ChangeAction, defineAction } from '../page.js';
import { writeWho } from '../serve-pages.js';
import type { Operations } from './operations.js';

export interface AcceptActionParts {
  readonly ledger: ReadOnlyLedger;
  readonly operations: Pick<Operations, 'accept'>;
}

/** What `hotel-review run DAY --accept-volume` does with a day that was sent with far fewer bookings than usual. */
export function createAcceptAction({ ledger, operations }: AcceptActionParts): ChangeAction {
  return defineAction({
    path: '/days/:day/accept',
    permission: 'operate',
    title: 'Accept few bookings',
    input: z.object({ day: dayField }),
    /** The run of the preview: a newer one may have even fewer bookings. */
    form: z.object({ run: z.string().max(64) }),
    reason: 'optional',
    async preview({ day }) {
      const run = await ledger.runs.latest(day);
      const base = { title: `Accept the bookings of ${day}`, button: `Accept ${day}`, back: `/days/${day}` };
      if (!run || !isToBeAccepted(run))
        return {
          ...base,
          lines: [],
          refusal: `${day} has no run with few bookings that nobody has accepted.`,
        };
      return {
        ...base,
        data: { runId: run.id, volume: run.volume },
        lines: [
          `Run ${run.id} has far fewer bookings than usual: ${describeDrops(run.volume ?? { drops: [] }).join('; ')}.`,
          'Check the export. If bookings are missing in it, send them once it is complete. If it is right, accept the day: nothing is sent, and the day becomes a good one.',
        ],
        details: html`<p><a href="/days/${encodeURIComponent(day)}/replay?which=late">Send what is missing</a></p>`,
        fields: html`<input type="hidden" name="run" value="${run.id}">`,
      };
    },
    audit: ({ day }, { run, reason }) => ({
      action: 'run',
      subject: day,
      details: { run, acceptVolume: true, ...(reason !== '' && { reason }) },
    }),
    async perform({ day }, { run: seen }, { visitor }) {
      const run = await ledger.runs.latest(day);
      if (run?.id !== seen || !isToBeAccepted(run)) throw new UsageError(describeChange(day, run));
      await operations.accept(run, writeWho(visitor));
      return { message: `The bookings of ${day} are accepted.`, next: `/days/${day}` };
    },
  });
}

function describeChange(day: string, run: Run | undefined): string {
  return `${day} has changed meanwhile${run ? `: its latest run is ${run.id} now (${run.state})` : ''}`;
}
