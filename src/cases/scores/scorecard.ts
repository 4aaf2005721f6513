import { createHash } from 'node:crypto';
import { yieldToEventLoop } from '../../base/event-loop.js';
import { createBusinessDay } from '../../booking/business-day.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { maxProviders } from '../../review/collect/store-bookings.js';
import type { Case } from '../../rules/case.js';
import { type Outcome, readNamedPairs, readOutcomes } from './outcomes.js';

/** What became of the bookings of a day, by provider; see `findScore`. */
export interface DayScore {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly providers: ReadonlyMap<string | null, ProviderDay>;
}

type ProviderDay = ReturnType<typeof createProviderDay>;

/** The provider's ids of the hotels that an incorrect booking names are kept beside the counts. */
const createProviderDay = () => ({ ...createCounts(), affectedHotels: new Set<string>() });

function createCounts() {
  return {
    sent: 0,
    /** Sent bookings about which a result says that their mapping is correct or incorrect. */
    known: 0,
    /** Of these, the incorrect ones, including those that only an e-mail calls incorrect. */
    affected: 0,
    /** Bookings that went by body, without such a verdict: an e-mail names incorrect ones only. */
    byEmail: 0,
    /** Bookings without such a verdict that an e-mail names. They have no share, because nobody knows out of how many. */
    namedByEmail: 0,
    /** Flagged by the local copy of the mappings before they were sent. */
    suspects: { flagged: 0, known: 0, incorrect: 0 },
  };
}

function count(score: ProviderDay, { verdict, isNamedByEmail, isSuspect, providerHotelId }: Outcome): void {
  const { suspects } = score;
  const isIncorrect = isNamedByEmail || verdict.verdict === 'incorrect';
  score.sent += 1;
  if (isSuspect) suspects.flagged += 1;
  if (verdict.verdict === 'unknown') {
    if (verdict.reason === 'by-email') score.byEmail += 1;
    if (isNamedByEmail) score.namedByEmail += 1;
  } else {
    score.known += 1;
    if (isIncorrect) score.affected += 1;
    if (isSuspect) suspects.known += 1;
    if (isSuspect && isIncorrect) suspects.incorrect += 1;
  }
  if (isIncorrect && providerHotelId !== undefined) score.affectedHotels.add(providerHotelId);
}

/** The score of a provider. Bookings without one have the name null, and so have those of the names beyond a thousand. */
function findScore<Score>(
  scores: Map<string | null, Score>,
  name: string | null,
  create: () => Score,
): Score {
  const key = scores.has(name) || scores.size < maxProviders ? name : null;
  const score = scores.get(key) ?? create();
  scores.set(key, score);
  return score;
}

/** More than any range that can be requested. */
const daysRemembered = 1_100;

export type ScoreMemory = ReturnType<typeof createScoreMemory>;

/**
 * The scores of days, each read from its stored bookings once, and again when something about it has changed: a million
 * bookings take seconds.
 */
export function createScoreMemory(whole: ReadOnlyLedger) {
  const remembered = new Map<string, { readonly mark: string; readonly score: DayScore }>();

  /** @param days YYYY-MM-DD, ascending */
  return async (days: readonly string[], signal: AbortSignal): Promise<readonly DayScore[]> => {
    const ledger = whole.stoppedBy(signal);
    const namedPairs = await readNamedPairs(ledger);
    const common = hash([...namedPairs]);
    const ofDays = await ledger.runs.markDays({ from: days[0] ?? '', to: days.at(-1) ?? '' });
    const marks = new Map(ofDays.map(({ day, mark }) => [day, `${mark} ${common}`]));
    const scores: DayScore[] = [];
    for (const day of days) {
      const mark = marks.get(day);
      const known = remembered.get(day);
      if (mark === undefined) scores.push({ day, providers: new Map() });
      else if (known?.mark === mark) scores.push(known.score);
      else {
        // A day of which nothing was delivered has no batch, between which others get their turn.
        await yieldToEventLoop(signal);
        const providers = new Map<string | null, ProviderDay>();
        for await (const outcomes of readOutcomes(ledger, day, namedPairs)) {
          signal.throwIfAborted();
          for (const outcome of outcomes)
            count(findScore(providers, outcome.providerName ?? null, createProviderDay), outcome);
        }
        scores.push({ day, providers });
        remember(mark, { day, providers });
      }
    }
    return scores;
  };

  function remember(mark: string, score: DayScore): void {
    // The oldest entry goes first.
    remembered.delete(score.day);
    remembered.set(score.day, { mark, score });
    const [oldest] = remembered.keys();
    if (remembered.size > daysRemembered && oldest !== undefined) remembered.delete(oldest);
  }
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

/** What is known about one provider over some days; its name is null as in `findScore`. */
export type ProviderScore = Awaited<ReturnType<typeof scoreProviders>>[number];

const offendersNamed = 5;
const hourMs = 3_600_000;

/**
 * Adds up each provider's days, and the cases that were opened in them. What is held is a row per provider, and one per hotel
 * that was affected or has a case.
 *
 * @param scored the days, ascending
 */
export async function scoreProviders(
  { cases }: ReadOnlyLedger,
  timezone: string,
  scored: readonly DayScore[],
) {
  const scores = new Map<string | null, OpenScore>();
  for (const { providers } of scored)
    for (const [name, day] of providers) addDay(findScore(scores, name, createScore), day);
  const [first, last] = [scored.at(0), scored.at(-1)];
  const opened =
    first && last
      ? await cases.listOpened({
          from: createBusinessDay(first.day, timezone).firstInstant.getTime(),
          to: createBusinessDay(last.day, timezone).lastInstant.getTime(),
        })
      : [];
  for (const item of opened) addCase(findScore(scores, item.providerName, createScore), item);
  return [...scores].map(([providerName, { hours, hotels, ...counts }]) => ({
    ...{ providerName, ...counts },
    /** From the opening of a case to the correction of its mapping; null without a corrected case. */
    medianHoursToCorrection: findMedian(hours),
    /** Hotels with several cases, or affected bookings on several days: the worst first. */
    repeatOffenders: [...hotels]
      .map(([providerHotelId, counted]) => ({ providerHotelId, ...counted }))
      .filter(({ cases, days }) => cases > 1 || days > 1)
      .sort(
        (a, b) => b.days - a.days || b.cases - a.cases || (a.providerHotelId < b.providerHotelId ? -1 : 1),
      )
      .slice(0, offendersNamed),
  }));
}

type OpenScore = ReturnType<typeof createScore>;

function createScore() {
  return {
    ...createCounts(),
    /** Cases that were opened in these days. */
    ...{ cases: 0, corrected: 0 },
    hours: [] as number[],
    /** Their cases, and the business days with affected bookings. */
    hotels: new Map<string, { cases: number; days: number }>(),
  };
}

function addDay(score: OpenScore, { suspects, affectedHotels, ...day }: ProviderDay): void {
  for (const name of ['sent', 'known', 'affected', 'byEmail', 'namedByEmail'] as const)
    score[name] += day[name];
  for (const name of ['flagged', 'known', 'incorrect'] as const) score.suspects[name] += suspects[name];
  for (const id of affectedHotels) hotelOf(score, id).days += 1;
}

function addCase(score: OpenScore, item: Case): void {
  const { state, openedAt, stateSince, correctedBy = stateSince, providerHotelId } = item;
  score.cases += 1;
  hotelOf(score, providerHotelId).cases += 1;
  if (state !== 'corrected') return;
  score.corrected += 1;
  score.hours.push(Math.max(0, correctedBy - openedAt) / hourMs);
}

function hotelOf({ hotels }: OpenScore, id: string) {
  const hotel = hotels.get(id) ?? { cases: 0, days: 0 };
  hotels.set(id, hotel);
  return hotel;
}

function findMedian(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

/** A provider as `providers --json` prints it. Unknown is null, never 0. */
export type ProviderJson = ReturnType<typeof providerToJson>;

export function providerToJson(score: ProviderScore) {
  const { providerName, sent, known, affected, byEmail, namedByEmail, suspects, cases, corrected } = score;
  const { medianHoursToCorrection: hours, repeatOffenders } = score;
  const interval = wilsonInterval(affected, known);
  return {
    ...{ providerName, sent, known },
    affected: interval ? affected : null,
    affectedShare: interval ? round(affected / known) : null,
    /** The 95 % interval of that share, after Wilson. */
    affectedShareLow: interval ? round(interval.low) : null,
    affectedShareHigh: interval ? round(interval.high) : null,
    ...{ byEmail, namedByEmail },
    suspects: { ...suspects, incorrect: suspects.known === 0 ? null : suspects.incorrect },
    ...{ cases, corrected },
    medianHoursToCorrection: hours === null ? null : Number(hours.toFixed(1)),
    repeatOffenders,
  };
}

const round = (share: number) => Number(share.toFixed(6));

/** The most certain offender first, by the lower end of the interval; those without a known verdict last. */
export function orderProviders(providers: readonly ProviderJson[]): ProviderJson[] {
  return providers.toSorted(
    (a, b) => (b.affectedShareLow ?? -1) - (a.affectedShareLow ?? -1) || b.sent - a.sent,
  );
}

/** Why no verdict is known: never "0 %". */
export function nameUnknown({ sent, byEmail }: Pick<ProviderJson, 'sent' | 'byEmail'>): string {
  if (sent === 0) return '-';
  return byEmail === sent ? 'by e-mail' : 'no result';
}

/** The two-sided 95 % quantile of the normal distribution. */
const z = 1.959963984540054;

/**
 * The 95 % interval of a share after Wilson: unlike the share itself, it tells two of ten from two hundred of a thousand.
 * Undefined if nothing was counted.
 */
export function wilsonInterval(hits: number, of: number) {
  if (of === 0) return undefined;
  const share = hits / of;
  const denominator = 1 + z ** 2 / of;
  const center = share + z ** 2 / (2 * of);
  const margin = z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2));
  return {
    low: hits === 0 ? 0 : (center - margin) / denominator,
    high: hits === of ? 1 : (center + margin) / denominator,
  };
}
