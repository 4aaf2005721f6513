import * as z from 'zod';
import { formatCount, formatCountOf } from '../base/format.js';
import { html } from '../base/html.js';
import { UsageError } from '../base/safe-error.js';
import { type BusinessDay, createBusinessDay } from '../booking/business-day.js';
import { findWait } from '../ledger/steps.js';
import { describeIncomparable } from '../review/collect/delivered-lines.js';
import { decideOpening, isUnfinished, type Opening } from '../review/day/open-run.js';
import { hasBegun, requireBegun } from '../review/day/range-plan.js';
import { listRunsOfDay } from '../review/every-run.js';
import { isResultLookedFor } from '../review/file/late-result.js';
import { auditAccepted, describeImplausible } from '../rules/acceptance-words.js';
import { type AcceptanceKind, acceptanceKinds, isOverdue, isToBeAccepted, type Run } from '../rules/run.js';
import { mayTryAgain } from '../rules/try-again.js';
import { describeDrops } from '../rules/volume.js';
import { accepts } from './day-actions.js';
import { dayField } from './fields.js';
import { type DeskVisit, defineAction } from './page.js';
import { showDay, showInstant, showMessage } from './parts.js';
import { writeWho } from './serve-pages.js';

/** What most actions on a day have in common. */
const ofDay = {
  permission: 'operate',
  input: z.object({ day: dayField }),
  form: z.object({}),
  reason: 'optional',
} as const;

/** What `hotel-review run DAY` does. */
const runDay = defineAction({
  ...ofDay,
  path: '/days/:day/run',
  title: 'Run a day',
  form: z.object({ acceptVolume: z.literal('yes').optional() }),
  async preview({ day: iso }, visit) {
    const day = createBusinessDay(iso, visit.timezone);
    const latest = await visit.desk.ledger.runs.latest(iso);
    const opening = decideOpening(latest, { mode: 'run', day });
    const refusal = await whyNotRun(day, opening, visit);
    // Nothing of it was sent: somebody has to say that so few bookings are right.
    const isDropped = latest?.failure?.code === 'volume-dropped' && opening.kind === 'resume';
    return {
      title: `Run ${showDay(iso)}`,
      lines: refusal === undefined ? describeOpening(opening, iso, latest) : [],
      refusal,
      fields: isDropped
        ? html`<label><input type="checkbox" name="acceptVolume" value="yes"> Send the day although it has far fewer bookings than usual</label>`
        : undefined,
      data: { day: iso, opening: opening.kind, runId: latest?.id ?? null },
      button: opening.kind === 'resume' ? `Resume run ${opening.run.id}` : `Run ${showDay(iso)}`,
      back: `/days/${iso}`,
    };
  },
  audit: ({ day }, { acceptVolume }) => ({
    action: 'run',
    subject: day,
    details: acceptVolume && auditAccepted(['volume']),
  }),
  async perform({ day: iso }, { reason, acceptVolume }, { desk, now, timezone, visitor }) {
    const day = createBusinessDay(iso, timezone);
    // The preview has no button then, but a form can be sent without one.
    requireBegun(day, now);
    const { runId, run } = await desk.operations.run(day, {
      reason: reason || undefined,
      accepts: acceptVolume && { kinds: ['volume'], by: writeWho(visitor) },
    });
    const state = run?.state ?? 'not started yet';
    return { message: `Run ${runId} of ${showDay(iso)} is ${state}.`, next: `/days/${iso}` };
  },
});

/** What the engine would refuse has no button. */
async function whyNotRun(day: BusinessDay, opening: Opening, visit: DeskVisit): Promise<string | undefined> {
  const { ledger, command } = visit.desk;
  if (opening.kind === 'already-done')
    return `${showDay(day.iso)} is done: run ${opening.run.id} succeeded. To send it again, or what was booked late, replay it.`;
  // What is missing is found by comparing with what earlier runs delivered, which takes the guests' names.
  const isComparing = opening.kind === 'new' && opening.topsUp;
  const obstacle = isComparing && describeIncomparable(await listRunsOfDay(ledger, day.iso));
  if (obstacle) return showMessage(obstacle, command);
  if (hasBegun(day, visit.now)) return undefined;
  return `${showDay(day.iso)} has not started: in ${day.zone} it is ${showDay(visit.today)}.`;
}

/** What the run would do, and why the latest one is not enough. */
function describeOpening(opening: Opening, day: string, latest: Run | undefined): readonly string[] {
  if (!latest) return [`${showDay(day)} has no run: a new one collects and sends all of it.`];
  if (opening.kind !== 'new') return [describeState(latest), describeLeft(latest), ...describeWait(latest)];
  const sent = opening.topsUp
    ? 'It did not cover the whole day: a new run sends what is missing.'
    : 'A new run collects and sends the whole day.';
  const replaced = opening.replaces === undefined ? [] : [`Run ${opening.replaces} is cancelled.`];
  return [describeState(latest), sent, ...replaced];
}

function describeState({ id, state, failure, cancelReason }: Run): string {
  if (state === 'failed') return `Run ${id} failed: ${failure?.message ?? 'the reason is not known'}`;
  if (state !== 'cancelled') return `Run ${id} is ${state}.`;
  return `Run ${id} was cancelled${cancelReason === undefined ? '' : `: ${cancelReason}`}.`;
}

/** Whether a failed run would continue without this. */
function describeWait(run: Run): string[] {
  if (run.state !== 'failed') return [];
  return mayTryAgain(run, 'schedule')
    ? ['The schedule tries it again, too.']
    : ['The schedule does not try it again: it waits for this.'];
}

function describeLeft({ collectedAt, counts, state }: Run): string {
  if (collectedAt === undefined) return 'Nothing has been sent yet: the day is collected from the start.';
  if (state === 'awaiting-result') return 'Everything was delivered: only the result is missing.';
  const pending = `${formatCount(counts.pending)} of ${formatCountOf(counts.accepted, 'booking')}`;
  return `${pending} are pending. What was delivered is not sent again.`;
}

/** What `hotel-review cancel DAY` does. */
const cancelRun = defineAction({
  ...ofDay,
  path: '/days/:day/cancel',
  title: 'Cancel a run',
  reason: 'required',
  async preview({ day }, { desk: { ledger } }) {
    const run = await ledger.runs.latest(day);
    const base = { title: `Cancel the run of ${showDay(day)}`, back: `/days/${day}` };
    const { runId } = (await ledger.wanted.find(day)) ?? {};
    if (runId !== undefined && !(run && isUnfinished(run)))
      return {
        ...base,
        lines: [`Run ${runId} has not started yet, and will not.`],
        data: { runId, state: 'not-started' },
        button: `Cancel run ${runId}`,
      };
    if (!run || !isUnfinished(run))
      return { ...base, lines: [], refusal: whyNotCancel(day, run), button: 'Cancel' };
    return {
      ...base,
      lines: describeCancel(run, await ledger.steps.isBeingPerformed(run.id)),
      data: { runId: run.id, state: run.state },
      button: `Cancel run ${run.id}`,
    };
  },
  audit: ({ day }) => ({ action: 'cancel', subject: day }),
  async perform({ day }, { reason }, { desk: { operations } }) {
    const result = await operations.cancel(day, reason);
    // It may have ended since the preview.
    if (result.kind === 'nothing') throw new UsageError(whyNotCancel(day, result.run));
    const id = result.kind === 'withdrawn' ? result.wanted.runId : result.run.id;
    return { message: `Run ${id} of ${showDay(day)} was cancelled.`, next: `/days/${day}` };
  },
});

function describeLooks(run: Run, { now, desk: { guestNameDays } }: DeskVisit): string {
  if (!isOverdue(run)) return 'A look is due now.';
  return isResultLookedFor(run, { now, guestNameDays })
    ? 'It is overdue, and the schedule looks for it at least once an hour.'
    : 'It is overdue, and is no longer looked for.';
}

function whyNotCancel(day: string, run: Run | undefined): string {
  return run ? `Run ${run.id} is ${run.state}: nothing to cancel.` : `${showDay(day)} has no run.`;
}

function describeCancel({ id, state, counts: { delivered, accepted } }: Run, isPerformed: boolean) {
  const sent = `${formatCount(delivered)} of ${formatCountOf(accepted, 'booking')}`;
  return [
    `Run ${id} is ${state}: nobody will resume it, and the schedule leaves the day alone until somebody runs it.`,
    ...(delivered > 0 ? [`${sent} were sent, and what was sent stays sent.`] : []),
    ...(isPerformed ? ['It is being worked on. That stops with the next write to the ledger.'] : []),
  ];
}

/** Looks for a day's result now. */
const lookForResult = defineAction({
  ...ofDay,
  path: '/days/:day/look',
  title: 'Look for a result',
  async preview({ day }, visit) {
    const { ledger } = visit.desk;
    const run = await ledger.runs.latest(day);
    const title = `Look for the result of ${showDay(day)}`;
    const base = { title, button: 'Look now', back: `/days/${day}` };
    if (run?.state !== 'awaiting-result')
      return { ...base, lines: [], refusal: `${showDay(day)} has no run that awaits a result.` };
    const since = run.file?.triggeredAt;
    const wait = findWait(await ledger.steps.readOpenWork(run.id, visit.now));
    // Without a wait, the step is due or being performed, unless the result is overdue.
    const unplanned = describeLooks(run, visit);
    const next = wait && `The next look is due at ${showInstant(wait.until, visit)}. This one comes before.`;
    return {
      ...base,
      data: { runId: run.id, nextLookAt: wait ? new Date(wait.until).toISOString() : null },
      lines: [
        `Run ${run.id} awaits its result${since === undefined ? '' : ` since ${showInstant(since, visit)}`}.`,
        next ?? unplanned,
      ],
    };
  },
  audit: ({ day }) => ({ action: 'look', subject: day }),
  async perform({ day }, _, { desk, timezone }) {
    const { runId } = await desk.operations.look(createBusinessDay(day, timezone));
    return { message: `The result of run ${runId} is being looked for.`, next: `/days/${day}` };
  },
});

/** What was found, what to do about it, and where. */
const acceptances = {
  volume: {
    title: 'Accept few bookings',
    describe: ({ id, day, volume }: Run) => ({
      data: { runId: id, volume },
      lines: [
        `Run ${id} has far fewer bookings than usual: ${volume ? describeDrops(volume).join('; ') : ''}.`,
        'Check the export. If bookings are missing in it, send them once it is complete. If it is right, accept the day: nothing is sent, and the day becomes a good one.',
      ],
      details: html`<p><a href="/days/${encodeURIComponent(day)}/replay?which=late">Send what is missing</a></p>`,
    }),
  },
  affected: {
    title: 'Accept many affected bookings',
    describe: ({ id, implausible }: Run) => ({
      data: { runId: id, ...implausible },
      lines: [
        `Run ${id} found ${implausible ? describeImplausible(implausible) : ''}.`,
        'Look at some of them. If the source sent wrong hotels, correct it and replay the day. If they are right, accept the day: nothing is sent, their cases stay open, and the day becomes a good one until more are affected.',
      ],
      details: html`<p><a href="/runs/${encodeURIComponent(id)}/affected">Affected bookings</a></p>`,
    }),
  },
};

/** What the option of `run` for that kind does with a day that was sent. */
function acceptAction(kind: AcceptanceKind) {
  const { title, describe } = acceptances[kind];
  return defineAction({
    ...ofDay,
    path: `/days/:day/${accepts[kind].path}`,
    title,
    /** The run of the preview: there may be a newer one. */
    form: z.object({ run: z.string().max(64) }),
    async preview({ day }, { desk: { ledger } }) {
      const run = await ledger.runs.latest(day);
      const shown = showDay(day);
      const base = { title: `${title}: ${shown}`, button: `Accept ${shown}`, back: `/days/${day}` };
      if (!run || !isToBeAccepted(run, [kind]))
        return { ...base, lines: [], refusal: `${shown} has no such run that nobody has accepted.` };
      const fields = html`<input type="hidden" name="run" value="${run.id}">`;
      return { ...base, ...describe(run), fields };
    },
    audit: ({ day }, { run }) => ({
      action: 'run',
      subject: day,
      details: { run, ...auditAccepted([kind]) },
    }),
    async perform({ day }, { run: seen }, { desk: { ledger, operations }, visitor }) {
      const run = await ledger.runs.latest(day);
      if (run?.id !== seen || !isToBeAccepted(run, [kind]))
        throw new UsageError(`${showDay(day)} has changed since the preview: load it again`);
      await operations.accept(run, { kinds: [kind], by: writeWho(visitor) });
      return { message: `The bookings of ${showDay(day)} are accepted.`, next: `/days/${day}` };
    },
  });
}

export const runActions = [runDay, cancelRun, lookForResult, ...acceptanceKinds.map(acceptAction)];
