import { createHash } from 'node:crypto';
import { type BusinessDay, createBusinessDay, holdsInstants } from '../../booking/business-day.js';
import { takeBegun } from '../../review/day/begun-days.js';
import {
  describePlan,
  isToReview,
  type PlanLedger,
  type PlannedDay,
  planRange,
  type RangeMode,
} from '../../review/day/range-plan.js';
import { UsageError } from '../../review/refusals.js';
import type { Run } from '../../review/run.js';
import { type Html, html } from '../../text/html.js';
import { colourOf, defineShapes, drawShape, markOfRun, nameMark } from '../routing/state-mark.js';

/** One click must not send years of bookings. */
export const longestSelection = 366;

/** A selection: days, a range, or both together. */
export interface Selection {
  readonly days?: readonly string[] | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The selected days that have begun, in their order. @throws UsageError */
export function listSelected({ days = [], from, to }: Selection, zone: string, now: number): BusinessDay[] {
  const listed = new Set([...days, ...(from === undefined ? [] : listRange(from, to ?? from, zone))]);
  if (listed.size > longestSelection) throw new UsageError(`select at most ${longestSelection} days`);
  const selected = [...listed]
    .sort()
    .map((day) => createBusinessDay(day, zone))
    .filter(holdsInstants);
  return [...takeBegun(selected, now)];
}

/** Stops one day beyond the limit, which is enough to refuse the range. */
function listRange(from: string, to: string, zone: string): string[] {
  if (to < from) throw new UsageError(`${to} is before ${from}`);
  const days: string[] = [];
  for (let day = createBusinessDay(from, zone); day.iso <= to; day = day.next()) {
    days.push(day.iso);
    if (days.length > longestSelection) break;
  }
  return days;
}

/** Days in their order, runs of days in short: 2026-11-01 to 2026-11-05, 2026-11-09 */
export function writeDays(days: readonly string[]): string {
  const ranges: string[][] = [];
  for (const day of days) {
    const range = ranges.at(-1);
    const last = range?.at(-1);
    if (range && last !== undefined && Date.parse(day) - Date.parse(last) === dayMs) range.push(day);
    else ranges.push([day]);
  }
  return ranges.map((range) => (range.length === 1 ? range[0] : `${range[0]} to ${range.at(-1)}`)).join(', ');
}

const dayMs = 86_400_000;

export interface ReplayPlan {
  readonly mode: RangeMode;
  readonly days: readonly PlannedDay[];
  /** Changes if a day gets another run or another plan. */
  readonly seen: string;
}

export async function planReplay(
  ledger: PlanLedger,
  days: readonly BusinessDay[],
  mode: RangeMode,
): Promise<ReplayPlan> {
  // The form asks for the reason, so no plan is refused for lack of one.
  const planned = days.length === 0 ? [] : await planRange(ledger, days, { mode, reason: 'asked for' });
  return { mode, days: planned, seen: digest(planned) };
}

function digest(days: readonly PlannedDay[]): string {
  const lines = days.map(({ day, plan, latest }) => `${day} ${plan.action} ${latest?.id ?? ''}`);
  return createHash('sha256').update(lines.join('\n')).digest('base64url').slice(0, 22);
}

/** What a replay would do with each day. A year of them fits on a page. */
export function renderPlan({ days }: ReplayPlan): Html {
  const marks = new Set(days.flatMap(({ latest }) => (latest ? markOfRun(latest) : [])));
  return html`${defineShapes([...marks])}<div class="wide" tabindex="0"><table><thead><tr><th scope="col">Day</th><th scope="col">Now</th><th scope="col">What happens</th></tr></thead>
<tbody>${days.map(
    (one) =>
      html`<tr><th scope="row" class="whole"><a href="/days/${one.day}">${one.day}</a></th><td>${
        one.latest ? renderState(one.latest) : 'no run'
      }</td><td${isToReview(one) ? undefined : html` class="faint"`}>${
        one.plan.action === 'refused' ? one.plan.message : describePlan(one.plan)
      }</td></tr>`,
  )}</tbody></table></div>`;
}

/** Like `renderMark`, but with the lines of each sign only once on the page. */
function renderState(run: Run): Html {
  const mark = markOfRun(run);
  return html`<span class="mark ${colourOf(mark)}">${drawShape(mark)} ${nameMark(mark)}</span>`;
}
