import { createHash } from 'node:crypto';
import * as z from 'zod';
import { formatCount, formatCountOf } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import { UsageError } from '../base/safe-error.js';
import { createBusinessDay, holdsInstants } from '../booking/business-day.js';
import {
  describePlan,
  isToReview,
  listBegunDays,
  type PlannedDay,
  planRange,
  type RangeMode,
  rangeModes,
  toPlanObjects,
} from '../review/day/range-plan.js';
import { runsAtOnce } from '../review/day/run-permits.js';
import { describeRun } from '../rules/describe-day.js';
import { mayCompleteDay } from '../rules/run.js';
import { dayField, optionalDayField } from './fields.js';
import { markOfRun, nameMark } from './marks.js';
import { type DeskVisit, defineAction, type ReasonGiven } from './page.js';
import { renderSelect, renderTable, showDay, showMessage } from './parts.js';

const meanings: Readonly<Record<RangeMode, string>> = {
  all: 'A new run collects the day and sends all of it again. An unfinished run is cancelled.',
  late: 'A new run sends only what no earlier run of the day has delivered.',
  missing: 'Only days that have no run are reviewed.',
  failed: 'Only runs that failed or were interrupted are resumed. What was delivered is not sent again.',
};

/** Without `from`, no days; without `to`, only the first. */
const rangeFields = z.object({
  from: optionalDayField,
  to: optionalDayField,
  which: z.enum(rangeModes).default('all'),
});
type AskedDays = z.output<typeof rangeFields>;

/** What both actions have in common. `seen` is as in the preview: it is refused if the days have changed. */
const ofDays = { permission: 'operate', form: z.object({ seen: z.string() }), reason: 'required' } as const;

/** What `hotel-review replay DAY` does, for late bookings too. */
const replayDay = defineAction({
  ...ofDays,
  path: '/days/:day/replay',
  title: 'Replay a day',
  input: z.object({ day: dayField, which: z.enum(['all', 'late']).default('all') }),
  async preview({ day, which }, visit) {
    const plan = previewPlan(which, await planReplay({ from: day, which }, visit), visit);
    const isLate = which === 'late';
    const title = `${isLate ? 'Send late bookings of' : 'Replay'} ${showDay(day)}`;
    const instead = `/days/${encodeURIComponent(day)}/replay?which=${isLate ? 'all' : 'late'}`;
    return {
      ...plan,
      title,
      details: html`${plan.details}<p><a href="${instead}">${isLate ? 'The whole day' : 'Only late bookings'} instead</a></p>`,
      button: title,
      back: `/days/${day}`,
    };
  },
  audit: ({ day, which }) => ({ action: 'replay', subject: day, details: { which } }),
  async perform({ day, which }, given, visit) {
    const message = await startReplay({ from: day, which }, given, visit);
    return { message, next: `/days/${day}` };
  },
});

/** What `hotel-review replay DAY --to DAY` does. */
const replayDays = defineAction({
  ...ofDays,
  path: '/replay',
  title: 'Replay days',
  input: rangeFields,
  async preview(asked, visit) {
    const plan = previewPlan(asked.which, await planReplay(asked, visit), visit);
    const waiting = await visit.desk.ledger.wanted.countWaiting('replay');
    const before = `Waiting for their turn: ${formatCountOf(waiting, 'day')} of earlier replays.`;
    return {
      ...plan,
      lines: waiting > 0 ? [before, ...plan.lines] : plan.lines,
      details: html`${renderRangeForm(asked)}${plan.details}`,
      back: '/',
    };
  },
  audit: ({ from, to, which }) => ({
    action: 'replay',
    subject: to === undefined || to === from ? from : `${from} to ${to}`,
    details: { which },
  }),
  async perform(asked, given, visit) {
    return { message: await startReplay(asked, given, visit), next: '/' };
  },
});

/** What a replay would do with each day that has begun. Nobody can confirm a plan with a `refusal`. */
async function planReplay(asked: AskedDays, visit: DeskVisit) {
  const { days, refusal } = findDays(asked, visit);
  // The form asks for the reason, so no plan is refused for lack of one.
  const request = { mode: asked.which, reason: 'asked for' };
  const planned = days.length === 0 ? [] : await planRange(visit.desk.ledger, days, request);
  const [refused] = planned.flatMap(({ plan }) => (plan.action === 'refused' ? plan.message : []));
  const nothingToDo = refused ?? 'There is nothing to do for these days.';
  const seen = planned.map(({ day, plan, latest }) => `${day} ${plan.action} ${latest?.id ?? ''}`);
  return {
    days: planned,
    refusal: refusal ?? (planned.some(isToReview) ? undefined : showMessage(nothingToDo, visit.desk.command)),
    /** Changes if a day gets another run or another plan. */
    seen: createHash('sha256').update(seen.join('\n')).digest('base64url').slice(0, 22),
  };
}

/** The days of a range that have begun, in their order. */
function findDays({ from, to = from }: AskedDays, visit: DeskVisit) {
  const refuse = (refusal: string) => ({ days: [], refusal });
  if (from === undefined || to === undefined) return refuse('Say which days: from, to, and which of them.');
  try {
    const days = listBegunDays(createBusinessDay(from, visit.timezone), to, visit.now);
    // A day that the zone's calendar skipped has no bookings.
    return { days: days.filter(holdsInstants), refusal: undefined };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return refuse(showMessage(`${error.message}.`, visit.desk.command));
  }
}

/** @throws UsageError if none of the days can be reviewed as it was previewed */
async function startReplay(
  asked: AskedDays,
  { seen, reason }: { readonly seen: string } & ReasonGiven,
  visit: DeskVisit,
): Promise<string> {
  const { operations, command } = visit.desk;
  const plan = await planReplay(asked, visit);
  if (plan.refusal !== undefined) throw new UsageError(plan.refusal);
  if (seen !== plan.seen)
    throw new UsageError(
      'the days have changed since the preview, perhaps by a second click: load it again to see what is left to do',
    );
  const days = plan.days.filter(isToReview).map(({ day, latest }) => ({
    day: createBusinessDay(day, visit.timezone),
    // The engine leaves a day alone that gets another run after this.
    seenRunId: latest?.id ?? null,
  }));
  const { wanted, left } = await operations.replay(days, { mode: asked.which, reason });
  const leftOut = left.map(({ day, why }) => showMessage(`${day}: ${why}`, command)).join('; ');
  const [first] = wanted;
  if (!first) throw new UsageError(leftOut);
  const others = wanted.length === 1 ? '' : ` and ${formatCountOf(wanted.length - 1, 'more day')}`;
  const started = `Being replayed: ${showDay(first.day)} (run ${first.runId})${others}.`;
  return leftOut === '' ? started : `${started} Left as they are: ${leftOut}`;
}

/** How many bookings a day sends, as far as the ledger knows: null if only the collect will tell, undefined if none are sent. */
function countBookings(one: PlannedDay): number | null | undefined {
  const { plan, latest } = one;
  if (!isToReview(one)) return undefined;
  if (plan.action === 'resume') return plan.run.collectedAt === undefined ? null : plan.run.counts.pending;
  // A new run sends the whole day: as many as its newest run had, unless that was only a part.
  if (plan.action !== 'new-run' || !latest || !mayCompleteDay(latest)) return null;
  // It counts the day as a whole, also for a run of late bookings.
  if (latest.volume) return latest.volume.accepted;
  return latest.collectedAt === undefined || latest.topsUp ? null : latest.counts.accepted;
}

/** The total of the days that are reviewed. */
function describeBookings(known: readonly number[], unknown: number): string {
  if (known.length === 0) return 'Bookings to send: unknown until they are collected.';
  const total = formatCount(known.reduce((sum, count) => sum + count, 0));
  const others = unknown === 0 ? '' : `; unknown for ${formatCountOf(unknown, 'day')}`;
  return `Bookings to send: ${total}, by the latest ${known.length === 1 ? 'run' : 'runs'}${others}.`;
}

/** What a replay would do with each day, and the field that confirms it. */
function previewPlan(
  which: RangeMode,
  { days, seen, refusal }: Awaited<ReturnType<typeof planReplay>>,
  { desk: { command }, timezone }: DeskVisit,
) {
  const begun = days.filter(isToReview).length;
  const known = days.flatMap((one) => countBookings(one) ?? []);
  const lines = [
    days.length > 0 && meanings[which],
    days.length > 1 &&
      `${formatCountOf(begun, 'day')} of ${days.length} would be reviewed, at most ${runsAtOnce} at once.`,
    begun > 0 && describeBookings(known, begun - known.length),
  ];
  // A year of days fits on a page.
  const table = renderTable(days, {
    Day: ({ day }) => html`<a href="/days/${day}">${showDay(day)}</a>`,
    Now: ({ latest }) =>
      latest ? nameMark(markOfRun({ ...describeRun(latest, { timezone }), ...latest })) : 'no run',
    Bookings: known.length > 0 && countBookings,
    'What happens': ({ plan }) =>
      plan.action === 'refused' ? `refused: ${showMessage(plan.message, command)}` : describePlan(plan),
  });
  return {
    lines: lines.filter((line) => line !== false),
    details: days.length === 0 ? undefined : table,
    fields: html`<input type="hidden" name="seen" value="${seen}">`,
    data: days.length === 0 ? undefined : { seen, days: toPlanObjects(days) },
    button: `Replay ${formatCountOf(begun, 'day')}`,
    refusal,
  };
}

const choices: Readonly<Record<RangeMode, string>> = {
  missing: 'missing',
  failed: 'failed or interrupted',
  all: 'all: new runs',
  late: 'late bookings',
};

/** Asks for the range, and for which of its days. */
function renderRangeForm({ from, to, which }: AskedDays): Html {
  return html`<form class="search card" action="/replay"><label>From<input type="date" name="from" value="${from ?? ''}"></label>
<label>To<input type="date" name="to" value="${to ?? ''}"></label>
${renderSelect('Which', 'which', Object.entries(choices), which)}
<button class="quiet">Show</button></form>`;
}

export const replayActions = [replayDay, replayDays];
