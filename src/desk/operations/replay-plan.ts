import { createHash } from 'node:crypto';
import { type BusinessDay, createBusinessDay, holdsInstants } from '../../booking/business-day.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { type Run, warnsOfVolume } from '../../ledger/run.js';
import {
  describePlan,
  isToReview,
  type PlannedDay,
  planRange,
  type RangeMode,
  takeBegun,
} from '../../review/day/range-plan.js';
import { type Html, html } from '../../text/html.js';
import { UsageError } from '../../text/usage-error.js';
import { colourOf, defineShapes, drawShape, markOfRun, nameMark } from '../marks.js';

/** One click must not send years of bookings. */
const longestRange = 366;

/** Without `from`, no days; without `to`, only the first. */
export interface DayRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The days of a range that have begun, in their order. @throws UsageError */
export function listBegun({ from, to = from }: DayRange, zone: string, now: number): BusinessDay[] {
  if (from === undefined || to === undefined) return [];
  if (to < from) throw new UsageError(`${to} is before ${from}`);
  const days: BusinessDay[] = [];
  for (let day = createBusinessDay(from, zone); day.iso <= to; day = day.next()) {
    days.push(day);
    if (days.length > longestRange) throw new UsageError(`at most ${longestRange} days at once`);
  }
  return [...takeBegun(days.filter(holdsInstants), now)];
}

export interface ReplayPlan {
  readonly mode: RangeMode;
  readonly days: readonly PlannedDay[];
  /** Changes if a day gets another run or another plan. */
  readonly seen: string;
}

export async function planReplay(
  ledger: ReadOnlyLedger,
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
  const marks = new Set(
    days.flatMap(({ latest }) => (latest ? markOfRun(latest, warnsOfVolume(latest)) : [])),
  );
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
  const mark = markOfRun(run, warnsOfVolume(run));
  return html`<span class="mark ${colourOf(mark)}">${drawShape(mark)} ${nameMark(mark)}</span>`;
}
