import * as z from 'zod';
import { type BusinessDay, createBusinessDay } from '../../booking/business-day.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { isActive, type Run } from '../../ledger/run.js';
import { decideOpening, type Opening } from '../../review/day/open-run.js';
import { requireBegun } from '../../review/day/range-plan.js';
import { formatCount, formatCountOf, formatLocalInstant } from '../../text/format.js';
import { html } from '../../text/html.js';
import { UsageError } from '../../text/usage-error.js';
import { dayField } from '../fields.js';
import { type ChangeAction, defineAction } from '../page.js';
import { writeWho } from '../serve-pages.js';
import type { Operations } from './operations.js';

export interface RunActionParts {
  readonly ledger: ReadOnlyLedger;
  readonly timezone: string;
  readonly operations: Pick<Operations, 'run' | 'cancel' | 'look'>;
}

/** The code of a run that failed because of its volume. */
const volumeCode = 'volume-dropped';

/** What `hotel-review run DAY` does. */
export function createRunAction({ ledger, timezone, operations }: RunActionParts): ChangeAction {
  return defineAction({
    path: '/days/:day/run',
    permission: 'operate',
    title: 'Run a day',
    input: z.object({
      day: dayField,
      /** Proposes to accept the volume. */
      volume: z.literal('accepted').optional(),
    }),
    form: z.object({ acceptVolume: z.literal('yes').optional() }),
    reason: 'optional',
    async preview({ day: iso, volume }, { now }) {
      const day = createBusinessDay(iso, timezone);
      const latest = await ledger.runs.latest(iso);
      const opening = decideOpening(latest, { mode: 'run', day });
      const isDropped = latest?.failure?.code === volumeCode && opening.kind === 'resume';
      const refusal = refuseRun(opening, day, now);
      return {
        title: `Run ${iso}`,
        lines: describeOpening(opening, iso, latest),
        ...(refusal !== undefined && { refusal }),
        ...(isDropped && {
          fields: html`<label><input type="checkbox" name="acceptVolume" value="yes"${volume ? html` checked` : undefined}> Send the day although it has far fewer bookings than usual</label>`,
        }),
        data: { day: iso, opening: opening.kind, runId: latest?.id ?? null },
        button: opening.kind === 'resume' ? `Resume run ${opening.run.id}` : `Run ${iso}`,
        back: `/days/${iso}`,
      };
    },
    audit: ({ day }, { reason, acceptVolume }) => ({
      action: 'run',
      subject: day,
      details: {
        ...(reason !== '' && { reason }),
        ...(acceptVolume !== undefined && { acceptVolume: true }),
      },
    }),
    async perform({ day: iso }, { reason, acceptVolume }, { now, visitor }) {
      const day = createBusinessDay(iso, timezone);
      requireBegun(day, now);
      const { run } = await operations.run(day, {
        ...(reason !== '' && { reason }),
        ...(acceptVolume !== undefined && { volumeAcceptedBy: writeWho(visitor) }),
      });
      const message = isActive(run)
        ? `${iso} is being run: ${run.id}.`
        : `Run ${run.id} of ${iso}: ${run.state}.`;
      return { message, next: `/days/${iso}` };
    },
  });
}

function refuseRun(opening: Opening, day: BusinessDay, now: number): string | undefined {
  if (opening.kind === 'already-done')
    return `${day.iso} is done: run ${opening.run.id} succeeded. To send it again, or what was booked late, replay it.`;
  try {
    requireBegun(day, now);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

function describeOpening(opening: Opening, day: string, latest: Run | undefined): readonly string[] {
  switch (opening.kind) {
    case 'already-done':
    case 'accept':
      return [];
    case 'usage-error':
      return [opening.message];
    case 'resume':
      return [describeState(opening.run), describeLeft(opening.run)];
    case 'new':
      if (!latest) return [`${day} has no run: a new one collects and sends all of it.`];
      return [
        describeState(latest),
        opening.topsUp
          ? 'It did not cover the whole day: a new run sends what is missing.'
          : 'A new run collects and sends the whole day.',
        ...(opening.replaces === undefined ? [] : [`Run ${opening.replaces} is cancelled.`]),
      ];
  }
}

function describeState({ id, state, failure, cancelReason }: Run): string {
  switch (state) {
    case 'failed':
      return `Run ${id} failed: ${failure?.message ?? 'the reason is not known'}`;
    case 'cancelled':
      return `Run ${id} was cancelled${cancelReason === undefined ? '' : `: ${cancelReason}`}.`;
    case 'collecting':
    case 'delivering':
    case 'awaiting-result':
    case 'succeeded':
      return `Run ${id} is ${state}.`;
  }
}

function describeLeft({ collectedAt, counts, state }: Run): string {
  if (collectedAt === undefined) return 'Nothing has been sent yet: the day is collected from the start.';
  if (state === 'awaiting-result') return 'Everything was delivered: only the result is missing.';
  return (
    `${formatCount(counts.pending)} of ${formatCountOf(counts.accepted, 'booking')} are pending. ` +
    'What was delivered is not sent again.'
  );
}

/** What `hotel-review cancel DAY` does. */
export function createCancelAction({ ledger, operations }: RunActionParts): ChangeAction {
  return defineAction({
    path: '/days/:day/cancel',
    permission: 'operate',
    title: 'Cancel a run',
    input: z.object({ day: dayField }),
    form: z.object({}),
    reason: 'required',
    async preview({ day }) {
      const back = `/days/${day}`;
      const run = await ledger.runs.latest(day);
      const base = { title: `Cancel the run of ${day}`, button: `Cancel run ${run?.id ?? ''}`, back };
      if (!run) return { ...base, lines: [], refusal: `${day} has no run.` };
      const data = { runId: run.id, state: run.state };
      if (!isUnfinished(run))
        return { ...base, data, lines: [], refusal: `Run ${run.id} is ${run.state}: nothing to cancel.` };
      const { delivered, accepted } = run.counts;
      return {
        ...base,
        data,
        lines: [
          `Run ${run.id} is ${run.state}: nobody will resume it, and the schedule leaves the day alone until somebody runs it.`,
          ...(delivered > 0
            ? [
                `${formatCount(delivered)} of ${formatCountOf(accepted, 'booking')} were sent, and what was sent stays sent.`,
              ]
            : []),
          ...((await ledger.steps.isBeingPerformed(run.id))
            ? ['It is being worked on. That stops with the next write to the ledger.']
            : []),
        ],
      };
    },
    audit: ({ day }, { reason }) => ({ action: 'cancel', subject: day, details: { reason } }),
    async perform({ day }, { reason }) {
      const result = await operations.cancel(day, reason);
      const { run } = result;
      if (result.kind === 'nothing')
        throw new UsageError(
          run ? `run ${run.id} is ${run.state}: nothing to cancel` : `there is no run of ${day}`,
        );
      return { message: `Run ${run?.id} of ${day} was cancelled.`, next: `/days/${day}` };
    },
  });
}

function isUnfinished(run: Run): boolean {
  return isActive(run) || run.state === 'failed';
}

/** Looks for a day's result now. */
export function createLookAction({ ledger, timezone, operations }: RunActionParts): ChangeAction {
  return defineAction({
    path: '/days/:day/look',
    permission: 'operate',
    title: 'Look for a result',
    input: z.object({ day: dayField }),
    form: z.object({}),
    reason: 'optional',
    async preview({ day }, { now }) {
      const run = await ledger.runs.latest(day);
      const base = { title: `Look for the result of ${day}`, button: 'Look now', back: `/days/${day}` };
      if (run?.state !== 'awaiting-result')
        return { ...base, lines: [], refusal: `${day} has no run that awaits a result.` };
      const since = run.file?.triggeredAt;
      const wait = await ledger.steps.findWait(run.id, now);
      return {
        ...base,
        data: { runId: run.id, nextLookAt: wait ? new Date(wait.until).toISOString() : null },
        lines: [
          `Run ${run.id} awaits its result${since === undefined ? '' : ` since ${formatLocalInstant(since, timezone)}`}.`,
          wait
            ? `The next look is due at ${formatLocalInstant(wait.until, timezone)}. This one comes before.`
            : 'It is overdue, and is no longer looked for.',
        ],
      };
    },
    audit: ({ day }, { reason }) => ({
      action: 'look',
      subject: day,
      ...(reason !== '' && { details: { reason } }),
    }),
    async perform({ day }) {
      const { run } = await operations.look(createBusinessDay(day, timezone));
      return { message: `The result of run ${run.id} is being looked for.`, next: `/days/${day}` };
    },
  });
}
