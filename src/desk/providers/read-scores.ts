import { businessDayAt, createBusinessDay } from '../../booking/business-day.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Silence } from '../../review/verdict.js';
import {
  type DayScore,
  orderProviders,
  type ProviderJson,
  providerToJson,
  type ScoreMemory,
  scoreProviders,
} from '../../scorecard/scorecard.js';
import { HttpError } from '../../server/http-error.js';
import type { DeskVisit } from '../page.js';

export interface ScoreParts {
  readonly ledger: ReadOnlyLedger;
  readonly timezone: string;
  readonly scores: ScoreMemory;
  /** What silence was agreed to mean, if anything. */
  readSilence(now: number): Promise<Silence | undefined>;
}

export interface Range {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface Scores {
  readonly days: readonly string[];
  /** Most certain offender first. */
  readonly providers: readonly ProviderJson[];
  readonly scored: readonly DayScore[];
}

/** What became of a provider's bookings over some days. */
export interface CourseItem {
  /** The first day, YYYY-MM-DD. */
  readonly from: string;
  readonly sent: number;
  readonly known: number;
  /** Null without a known verdict. */
  readonly affected: number | null;
  readonly namedByEmail: number;
}

const usualDays = 90;
const daysAtMost = 1_000;

/** The scores of all providers over a range of days, the last 90 by default. */
export async function readScores(
  { ledger, timezone, scores, readSilence }: ScoreParts,
  range: Range,
  { now, signal }: Pick<DeskVisit, 'now' | 'signal'>,
): Promise<Scores> {
  const today = businessDayAt(new Date(now), timezone).iso;
  const days = listDays(range, today);
  const scored = await scores(days, { signal, silence: await readSilence(now) });
  const added = await scoreProviders(ledger, timezone, scored);
  return { days, scored, providers: orderProviders(added.map(providerToJson)) };
}

/** Computes the scores of the default range before anybody asks for them. */
export async function prepareScores(
  { timezone, scores, readSilence }: Pick<ScoreParts, 'timezone' | 'scores' | 'readSilence'>,
  { now, signal }: Pick<DeskVisit, 'now' | 'signal'>,
): Promise<void> {
  const days = listDays({}, businessDayAt(new Date(now), timezone).iso);
  await scores(days, { signal, silence: await readSilence(now) });
}

/** @throws HttpError 400 */
function listDays({ from, to }: Range, today: string): string[] {
  const last = createBusinessDay(to ?? today, 'UTC');
  const days: string[] = [];
  for (let day = last; days.length < (from === undefined ? usualDays : daysAtMost); day = day.previous()) {
    if (from !== undefined && day.iso < from) break;
    days.push(day.iso);
  }
  if (days.length === 0) throw new HttpError(400, `to: ${last.iso} is before ${from}`);
  if (from !== undefined && days.at(-1) !== from)
    throw new HttpError(400, `from: at most ${daysAtMost} days, so not before ${days.at(-1)}`);
  return days.reverse();
}

const daysOfWeek = 7;

/** What became of a provider's bookings week by week, oldest first; the last week ends with the range. */
export function groupWeeks(scored: readonly DayScore[], providerName: string | null): CourseItem[] {
  const weeks: CourseItem[] = [];
  for (let end = scored.length; end > 0; end -= daysOfWeek)
    weeks.push(addUp(scored.slice(Math.max(0, end - daysOfWeek), end), providerName));
  return weeks.reverse();
}

/** The same by day. */
export function groupDays(scored: readonly DayScore[], providerName: string | null): CourseItem[] {
  return scored.map((day) => addUp([day], providerName));
}

function addUp(scored: readonly DayScore[], providerName: string | null): CourseItem {
  const total = { sent: 0, known: 0, affected: 0, namedByEmail: 0 };
  for (const { providers } of scored) {
    const found = providers.get(providerName);
    if (!found) continue;
    total.sent += found.sent;
    total.known += found.known;
    total.affected += found.affected;
    total.namedByEmail += found.namedByEmail;
  }
  return { from: scored[0]?.day ?? '', ...total, affected: total.known === 0 ? null : total.affected };
}
