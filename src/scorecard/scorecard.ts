import { createBusinessDay } from '../booking/business-day.js';
import type { Case } from '../cases/case.js';
import type { CaseReader } from '../cases/case-store.js';
import { maxProviders } from '../review/collect/provider-counts.js';
import { type DayScore, type DayScoreParts, type ProviderDay, scoreDays } from './day-scores.js';
import type { OutcomeLedger } from './outcomes.js';

/** What is known about one provider over some days. */
export interface ProviderScore {
  /** Null for bookings without one, and for the names beyond a thousand. */
  readonly providerName: string | null;
  readonly sent: number;
  /** Sent bookings about which a result, or silence as agreed, says that their mapping is correct or incorrect. */
  readonly known: number;
  /** Of these, the incorrect ones, including those that only an e-mail calls incorrect. */
  readonly affected: number;
  /** Bookings that went by body, without such a verdict: an e-mail names incorrect ones only. */
  readonly byEmail: number;
  /** Bookings without such a verdict that an e-mail names. They have no share, because nobody knows out of how many. */
  readonly namedByEmail: number;
  /** Flagged by the local copy of the mappings before they were sent. */
  readonly suspects: SuspectScore;
  /** Cases that were opened in these days. */
  readonly cases: number;
  readonly corrected: number;
  /** From the opening of a case to the correction of its mapping; null without a corrected case. */
  readonly medianHoursToCorrection: number | null;
  /** Hotels with several cases, or affected bookings on several days: the worst first. */
  readonly repeatOffenders: readonly RepeatOffender[];
}

export interface SuspectScore {
  readonly flagged: number;
  readonly known: number;
  readonly incorrect: number;
}

export interface RepeatOffender {
  readonly providerHotelId: string;
  readonly cases: number;
  /** Business days with affected bookings. */
  readonly days: number;
}

export interface ScorecardParts extends DayScoreParts {
  readonly ledger: OutcomeLedger & { readonly cases: Pick<CaseReader, 'listOpened'> };
  readonly timezone: string;
}

const offendersNamed = 5;
const hourMs = 3_600_000;

/**
 * Scores each provider over these days, with a known verdict or none. What is held is a row per provider, and one per hotel
 * that was affected or has a case.
 *
 * @param days YYYY-MM-DD, ascending
 */
export async function scoreProviders(
  parts: ScorecardParts,
  days: readonly string[],
): Promise<ProviderScore[]> {
  return addUpScores(parts, days, scoreDays(parts, days));
}

/** The same from the scores of these days, in their order. */
export async function addUpScores(
  {
    ledger,
    timezone,
  }: Pick<ScorecardParts, 'timezone'> & { readonly ledger: Pick<ScorecardParts['ledger'], 'cases'> },
  days: readonly string[],
  scored: AsyncIterable<DayScore> | Iterable<DayScore>,
): Promise<ProviderScore[]> {
  const scores = new Map<string | null, OpenScore>();
  const scoreOf = (name: string | null): OpenScore => {
    const known = scores.get(name);
    if (known) return known;
    const key = scores.size >= maxProviders ? null : name;
    const score = scores.get(key) ?? createScore();
    scores.set(key, score);
    return score;
  };
  for await (const { providers } of scored) for (const [name, score] of providers) scoreOf(name).add(score);
  for (const opened of await listOpened(ledger, days, timezone)) scoreOf(opened.providerName).addCase(opened);
  return [...scores].map(([providerName, score]) => ({ providerName, ...score.total() }));
}

async function listOpened(
  { cases }: Pick<ScorecardParts['ledger'], 'cases'>,
  days: readonly string[],
  timezone: string,
): Promise<readonly Case[]> {
  const [first, last] = [days.at(0), days.at(-1)];
  if (first === undefined || last === undefined) return [];
  return cases.listOpened({
    from: createBusinessDay(first, timezone).firstInstant.getTime(),
    to: createBusinessDay(last, timezone).lastInstant.getTime(),
  });
}

type OpenScore = ReturnType<typeof createScore>;

function createScore() {
  const counts = { sent: 0, known: 0, affected: 0, byEmail: 0, namedByEmail: 0, cases: 0, corrected: 0 };
  const suspects = { flagged: 0, known: 0, incorrect: 0 };
  const hours: number[] = [];
  const hotels = new Map<string, { cases: number; days: number }>();
  const hotelOf = (id: string) => {
    const hotel = hotels.get(id) ?? { cases: 0, days: 0 };
    hotels.set(id, hotel);
    return hotel;
  };

  return {
    add(day: ProviderDay): void {
      counts.sent += day.sent;
      counts.known += day.known;
      counts.affected += day.affected;
      counts.byEmail += day.byEmail;
      counts.namedByEmail += day.namedByEmail;
      suspects.flagged += day.suspects.flagged;
      suspects.known += day.suspects.known;
      suspects.incorrect += day.suspects.incorrect;
      for (const hotel of day.affectedHotels) hotelOf(hotel).days += 1;
    },
    addCase({ state, openedAt, stateSince, correctedBy, providerHotelId }: Case): void {
      counts.cases += 1;
      hotelOf(providerHotelId).cases += 1;
      if (state !== 'corrected') return;
      counts.corrected += 1;
      hours.push(Math.max(0, (correctedBy ?? stateSince) - openedAt) / hourMs);
    },
    total(): Omit<ProviderScore, 'providerName'> {
      const repeatOffenders = [...hotels]
        .map(([providerHotelId, { cases, days }]) => ({ providerHotelId, cases, days }))
        .filter(({ cases, days }) => cases > 1 || days > 1)
        .sort(
          (a, b) => b.days - a.days || b.cases - a.cases || (a.providerHotelId < b.providerHotelId ? -1 : 1),
        )
        .slice(0, offendersNamed);
      return { ...counts, suspects, medianHoursToCorrection: findMedian(hours), repeatOffenders };
    },
  };
}

function findMedian(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}
