import * as z from 'zod';
import { type BusinessDay, createBusinessDay } from '../../booking/business-day.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { isToReview, type RangeMode, rangeModes, toPlanObjects } from '../../review/day/range-plan.js';
import { runsAtOnce } from '../../review/day/replays.js';
import { formatCountOf } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { UsageError } from '../../text/usage-error.js';
import { dayField, optionalDayField } from '../fields.js';
import { type ChangeAction, type Done, defineAction, type Preview } from '../page.js';
import type { Operations } from './operations.js';
import { type DayRange, listBegun, planReplay, type ReplayPlan, renderPlan } from './replay-plan.js';

export interface ReplayActionParts {
  readonly ledger: ReadOnlyLedger;
  readonly timezone: string;
  readonly operations: Pick<Operations, 'replays'>;
}

/** `seen` is as in the preview: it is refused if the days have changed. */
const form = z.object({ seen: z.string() });

/** What `hotel-review replay DAY` does, for late bookings too. */
export function createDayReplayAction(parts: ReplayActionParts): ChangeAction {
  const { ledger, timezone } = parts;
  return defineAction({
    path: '/days/:day/replay',
    permission: 'operate',
    title: 'Replay a day',
    input: z.object({
      day: dayField,
      which: z.enum(['all', 'late']).default('all'),
    }),
    form,
    reason: 'required',
    async preview({ day, which }, { now }) {
      const back = `/days/${day}`;
      const title = which === 'late' ? `Send late bookings of ${day}` : `Replay ${day}`;
      const asked = findDays({ from: day }, timezone, now);
      if ('refusal' in asked) return { title, lines: [], refusal: asked.refusal, button: title, back };
      const plan = await planReplay(ledger, asked.days, which);
      const refused = plan.days[0]?.plan;
      const other = which === 'all' ? 'late' : 'all';
      return {
        ...previewPlan(plan),
        title,
        lines: [meanings[which]],
        details: html`${renderPlan(plan)}<p><a href="/days/${encodeURIComponent(day)}/replay?which=${other}">${instead[other]}</a></p>`,
        ...(refused?.action === 'refused' && { refusal: refused.message }),
        button: title,
        back,
      };
    },
    audit: ({ day, which }, { reason }) => ({ action: 'replay', subject: day, details: { which, reason } }),
    async perform({ day, which }, given, { now }) {
      const days = listBegun({ from: day }, timezone, now);
      const { message } = await startReplay(parts, await planReplay(ledger, days, which), given);
      return { message, next: `/days/${day}` };
    },
  });
}

/** What `hotel-review replay DAY --to DAY` does. */
export function createReplayAction(parts: ReplayActionParts): ChangeAction {
  const { ledger, timezone, operations } = parts;
  return defineAction({
    path: '/replay',
    permission: 'operate',
    title: 'Replay days',
    input: z.object({
      from: optionalDayField,
      /** The first day if absent. */
      to: optionalDayField,
      which: z.enum(rangeModes).default('all'),
    }),
    form,
    reason: 'required',
    async preview({ which, ...range }, { now }) {
      const asked = findDays(range, timezone, now);
      const base = { details: renderRangeForm(range, which), button: 'Replay', back: '/' };
      const waiting = describeWaiting(operations);
      if ('refusal' in asked) return { ...base, lines: waiting, refusal: asked.refusal };
      if (asked.days.length === 0)
        return { ...base, lines: waiting, refusal: 'Say which days: from, to, and which of them.' };
      const plan = await planReplay(ledger, asked.days, which);
      const begun = plan.days.filter(isToReview).length;
      return {
        ...base,
        ...previewPlan(plan),
        details: html`${base.details}${renderPlan(plan)}`,
        lines: [
          ...waiting,
          meanings[which],
          `${formatCountOf(begun, 'day')} of ${plan.days.length} would be reviewed, at most ${runsAtOnce} at once.`,
        ],
        ...(begun === 0 && { refusal: 'There is nothing to do for these days.' }),
        button: `Replay ${formatCountOf(begun, 'day')}`,
      };
    },
    audit: ({ from, to, which }, { reason }) => ({
      action: 'replay',
      subject: to === undefined || to === from ? from : `${from} to ${to}`,
      details: { which, reason },
    }),
    async perform({ which, ...range }, given, { now }) {
      const days = listBegun(range, timezone, now);
      return startReplay(parts, await planReplay(ledger, days, which), given);
    },
  });
}

const meanings: Readonly<Record<RangeMode, string>> = {
  all: 'A new run collects the day and sends all of it again. An unfinished run is cancelled.',
  late: 'A new run sends only what no earlier run of the day has delivered.',
  missing: 'Only days that have no run are reviewed.',
  failed: 'Only runs that failed or were interrupted are resumed. What was delivered is not sent again.',
};

const instead = { late: 'Only late bookings instead', all: 'The whole day instead' } as const;

type FoundDays = { readonly days: readonly BusinessDay[] } | { readonly refusal: string };

function findDays(range: DayRange, timezone: string, now: number): FoundDays {
  try {
    return { days: listBegun(range, timezone, now) };
  } catch (error) {
    if (error instanceof UsageError) return { refusal: error.message };
    throw error;
  }
}

function previewPlan(plan: ReplayPlan): Pick<Preview, 'details' | 'fields' | 'data'> {
  return {
    details: renderPlan(plan),
    fields: html`<input type="hidden" name="seen" value="${plan.seen}">`,
    data: { seen: plan.seen, days: toPlanObjects(plan.days) },
  };
}

function describeWaiting({ replays }: ReplayActionParts['operations']): readonly string[] {
  const { length } = replays.listWaiting();
  return length === 0 ? [] : [`Waiting for their turn: ${formatCountOf(length, 'day')} of earlier replays.`];
}

/** @throws UsageError if none of the days can be reviewed as it was previewed */
async function startReplay(
  { timezone, operations }: ReplayActionParts,
  plan: ReplayPlan,
  { seen, reason }: { readonly seen: string; readonly reason: string },
): Promise<Done> {
  if (seen !== plan.seen)
    throw new UsageError(
      'the days have changed since the preview, perhaps by a second click: load it again to see what is left to do',
    );
  const days = plan.days.filter(isToReview).map(({ day, latest }) => ({
    day: createBusinessDay(day, timezone),
    seenRunId: latest?.id ?? null,
  }));
  const { runs, left } = await operations.replays.start(days, { mode: plan.mode, reason });
  const leftOut = left.map(({ day, why }) => `${day}: ${why}`).join('; ');
  const [first] = runs;
  if (!first) throw new UsageError(leftOut || 'there is nothing to do for these days');
  const started =
    runs.length === 1
      ? `${first.day} is being replayed: run ${first.id}.`
      : `${formatCountOf(runs.length, 'day')} are being replayed, at most ${runsAtOnce} at once.`;
  return { message: leftOut === '' ? started : `${started} Left as they are: ${leftOut}`, next: '/' };
}

const choices: Readonly<Record<RangeMode, string>> = {
  all: 'all: new runs',
  missing: 'missing',
  failed: 'failed or interrupted',
  late: 'late bookings',
};

/** Asks for the range, and for which of its days. */
function renderRangeForm({ from, to }: DayRange, which: RangeMode): Html {
  return html`<form class="search card" action="/replay"><label>From<input type="date" name="from" value="${from ?? ''}"></label>
<label>To<input type="date" name="to" value="${to ?? ''}"></label>
<label>Which<select name="which">${rangeModes.map(
    (mode) =>
      html`<option value="${mode}"${mode === which ? html` selected` : undefined}>${choices[mode]}</option>`,
  )}</select></label>
<button class="quiet">Show</button></form>`;
}
