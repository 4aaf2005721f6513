import { createHash } from 'node:crypto';
import { yieldToEventLoop } from '../../base/event-loop.js';
import { addTo } from '../../base/group.js';
import { keyOfBooking } from '../../booking/booking.js';
import { createBusinessDay } from '../../booking/business-day.js';
import { batchStreams } from '../../booking/sending.js';
import { stayOf } from '../../booking/stay.js';
import { findHotel, findProvider, readBooking, writeProviderHotel } from '../../booking/stored-line.js';
import { readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { isNamedByMapping, type ReceivedPair } from '../../ledger/mails.js';
import { maxProviders } from '../../review/collect/store-bookings.js';
import { listRunsOfDay } from '../../review/every-run.js';
import { judgeRuns } from '../../review/outcome/read-outcome.js';
import { readStoredEntries } from '../../review/outcome/stored-entries.js';
import type { Case } from '../../rules/case.js';
import type { DayStanding } from '../../rules/day-outcome.js';
import type { Run } from '../../rules/run.js';
import type { UnknownReason } from '../../rules/verdict.js';

/** What became of the bookings of a day, by provider; see `findScore`. */
export interface DayScore {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly providers: ReadonlyMap<string | null, ProviderDay>;
}

type ProviderDay = ReturnType<typeof createProviderDay>;

/** The provider's ids of the hotels that an incorrect booking names are kept beside the counts. */
const createProviderDay = () => ({ ...createCounts(), affectedHotels: new Set<string>() });

const createCounts = () => ({
  sent: 0,
  /** Sent bookings about which a result says that their mapping is correct or incorrect. */
  known: 0,
  /** Of these, the incorrect ones, including those that only an e-mail calls incorrect. */
  affected: 0,
  /** Bookings that went by body, without such a verdict: an e-mail names incorrect ones only. */
  byEmail: 0,
  /** Bookings without such a verdict that an e-mail names. They have no share, because nobody knows out of how many. */
  namedByEmail: 0,
  /** Flagged by the local copy of the mappings before they were sent; those of them with a verdict, and the incorrect ones. */
  ...{ flagged: 0, flaggedKnown: 0, flaggedIncorrect: 0 },
});

function count(score: ProviderDay, { verdict, isNamedByEmail, isSuspect, providerHotelId }: Outcome): void {
  const isIncorrect = isNamedByEmail || verdict === 'incorrect';
  score.sent += 1;
  if (isSuspect) score.flagged += 1;
  if (verdict === 'correct' || verdict === 'incorrect') {
    score.known += 1;
    if (isIncorrect) score.affected += 1;
    if (isSuspect) score.flaggedKnown += 1;
    if (isSuspect && isIncorrect) score.flaggedIncorrect += 1;
  } else {
    if (verdict === 'by-email') score.byEmail += 1;
    if (isNamedByEmail) score.namedByEmail += 1;
  }
  if (providerHotelId !== undefined) score.affectedHotels.add(providerHotelId);
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
    const common = createHash('sha256')
      .update(JSON.stringify([...namedPairs]))
      .digest('base64');
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
        // The oldest entry goes first.
        remembered.delete(day);
        remembered.set(day, { mark, score: { day, providers } });
        const [oldest = ''] = remembered.keys();
        if (remembered.size > daysRemembered) remembered.delete(oldest);
      }
    }
    return scores;
  };
}

/** A provider as `providers --json` prints it. Unknown is null, never 0. */
export type ProviderJson = ReturnType<typeof providerToJson>;

/**
 * Adds up each provider's days, and the cases that were opened in them; the most certain offender first, by the lower end of the
 * interval, those without a known verdict last. What is held is a row per provider, and one per hotel that was affected or has a case.
 *
 * @param scored the days, ascending
 */
export async function scoreProviders(
  { cases }: ReadOnlyLedger,
  timezone: string,
  scored: readonly DayScore[],
): Promise<ProviderJson[]> {
  const scores = new Map<string | null, ProviderScore>();
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
  return [...scores]
    .map(([name, score]) => providerToJson(name, score))
    .sort((a, b) => (b.affectedShareLow ?? -1) - (a.affectedShareLow ?? -1) || b.sent - a.sent);
}

type ProviderScore = ReturnType<typeof createScore>;

const createScore = () => ({
  counts: createCounts(),
  /** The cases that were opened in these days. */
  cases: 0,
  /** From the opening of each corrected one to the correction of its mapping. */
  hours: [] as number[],
  /** Their cases, and the business days with affected bookings. */
  hotels: new Map<string, { cases: number; days: number }>(),
});

const hourMs = 3_600_000;

function addDay(score: ProviderScore, { affectedHotels, ...day }: ProviderDay): void {
  for (const name of Object.keys(day) as (keyof typeof day)[]) score.counts[name] += day[name];
  for (const id of affectedHotels) hotelOf(score, id).days += 1;
}

function addCase(score: ProviderScore, item: Case): void {
  const { state, openedAt, stateSince, correctedBy = stateSince, providerHotelId } = item;
  score.cases += 1;
  hotelOf(score, providerHotelId).cases += 1;
  if (state === 'corrected') score.hours.push(Math.max(0, correctedBy - openedAt) / hourMs);
}

function hotelOf({ hotels }: ProviderScore, id: string) {
  const hotel = hotels.get(id) ?? { cases: 0, days: 0 };
  hotels.set(id, hotel);
  return hotel;
}

function findMedian(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? null : Number(((low + high) / 2).toFixed(1));
}

const offendersNamed = 5;

function providerToJson(providerName: string | null, { counts, cases, hours, hotels }: ProviderScore) {
  const { sent, known, affected, byEmail, namedByEmail } = counts;
  const { flagged, flaggedKnown, flaggedIncorrect } = counts;
  const interval = wilsonInterval(affected, known);
  return {
    ...{ providerName, sent, known },
    affected: interval ? affected : null,
    affectedShare: interval ? round(affected / known) : null,
    /** The 95 % interval of that share, after Wilson. */
    affectedShareLow: interval ? round(interval.low) : null,
    affectedShareHigh: interval ? round(interval.high) : null,
    ...{ byEmail, namedByEmail },
    suspects: { flagged, known: flaggedKnown, incorrect: flaggedKnown === 0 ? null : flaggedIncorrect },
    ...{ cases, corrected: hours.length },
    /** Null without a corrected case. */
    medianHoursToCorrection: findMedian(hours),
    /** Hotels with several cases, or affected bookings on several days: the worst first. */
    repeatOffenders: [...hotels]
      .map(([providerHotelId, counted]) => ({ providerHotelId, ...counted }))
      .filter(({ cases, days }) => cases > 1 || days > 1)
      .sort(
        (a, b) => b.days - a.days || b.cases - a.cases || (a.providerHotelId < b.providerHotelId ? -1 : 1),
      )
      .slice(0, offendersNamed),
  };
}

const round = (share: number) => Number(share.toFixed(6));

/** Why no verdict is known: never "0 %". */
export function nameUnknown({ sent, byEmail }: { readonly sent: number; readonly byEmail: number }): string {
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

/** A booking that was sent, and what became of it. */
export interface Outcome {
  readonly providerName: string | undefined;
  /** Only of an incorrect booking: the lines of others are not parsed. */
  readonly providerHotelId: string | undefined;
  /** Without what e-mails say: they name incorrect bookings only. */
  readonly verdict: DayStanding | UnknownReason;
  /** An e-mail names it, or its mapping. */
  readonly isNamedByEmail: boolean;
  /** The local copy of the mappings contradicted it before it was sent. */
  readonly isSuspect: boolean;
}

type NamedPairs = Awaited<ReturnType<typeof readNamedPairs>>;

/** The bookings of a day that were delivered, each once, one stored batch at a time. */
export async function* readOutcomes(
  ledger: ReadOnlyLedger,
  day: string,
  namedPairs: NamedPairs,
): AsyncGenerator<readonly Outcome[], void, undefined> {
  const runs = await listRunsOfDay(ledger, day);
  const { sent } = await judgeRuns(ledger, day, runs);
  // One stays named if another run sends it, too. What the only run of a day sent is known by its row.
  const namedKeys = runs.length > 1 ? await readNamedKeys(ledger, runs, namedPairs) : new Set();
  const isKeyNamed = (line: string) => namedKeys.size > 0 && namedKeys.has(keyOfBooking(readBooking(line)));
  for (const { run, standings } of sent) {
    if (run.collectedAt === undefined) continue;
    const named = await ledger.mails.listNamedRows(run.id);
    const isPairNamed = createPairTest(namedPairs, run);
    const readProvider = createProviderReader();
    for (const stream of batchStreams)
      for await (const { batch, entries } of readStoredEntries(ledger, run, stream)) {
        const standing = standings.find(stream, batch);
        const rows = new Set(
          named.filter((of) => of.stream === stream && of.batch === batch).map((of) => of.row),
        );
        yield entries.flatMap(({ line, state, verdict: own, isSuspect }, row): Outcome[] => {
          const stands = standing.get(row);
          if (stands === 'uncounted' || state !== 'delivered') return [];
          const verdict = stands ?? own ?? (stream === 'file' ? 'awaiting-result' : 'by-email');
          const isNamedByEmail = rows.has(row) || isPairNamed(line) || isKeyNamed(line);
          const isIncorrect = isNamedByEmail || verdict === 'incorrect';
          const providerHotelId = isIncorrect ? readBooking(line).providerHotelId : undefined;
          return [{ providerName: readProvider(line), providerHotelId, verdict, isNamedByEmail, isSuspect }];
        });
      }
  }
}

/** The keys of the bookings that e-mails name, or whose mappings they name. */
async function readNamedKeys(ledger: ReadOnlyLedger, runs: readonly Run[], namedPairs: NamedPairs) {
  const keys = new Set<string>();
  for (const run of runs) {
    const named = await ledger.mails.listNamedRows(run.id);
    const isPairNamed = createPairTest(namedPairs, run);
    for (const stream of batchStreams) {
      const ofStream = named.filter((of) => of.stream === stream);
      if (ofStream.length === 0 && namedPairs.size === 0) continue;
      for await (const { batch, lines } of readStoredBatches(ledger, run, stream)) {
        const rows = new Set(ofStream.filter((of) => of.batch === batch).map(({ row }) => row));
        if (rows.size === 0 && namedPairs.size === 0) continue;
        for (const [row, line] of splitStoredLines(lines).entries())
          if (rows.has(row) || isPairNamed(line)) keys.add(keyOfBooking(readBooking(line)));
      }
    }
  }
  return keys;
}

/** Whether an e-mail names the mapping of a line's booking, of those that came after its run was collected. */
function createPairTest(namedPairs: NamedPairs, run: Run): (line: string) => boolean {
  return (line) => {
    const hotel = namedPairs.size > 0 ? findHotel(line) : undefined;
    const pairs = hotel && namedPairs.get(hotel.key)?.filter((pair) => pair.serviceId === hotel.serviceId);
    if (!pairs || pairs.length === 0) return false;
    const { checkIn } = stayOf(readBooking(line), run.day);
    return pairs.some(({ receivedAt }) => isNamedByMapping(receivedAt, { run, checkIn }));
  };
}

/** The pairs that e-mails name, by the keys of their hotels in stored lines. */
export async function readNamedPairs({ mails }: ReadOnlyLedger) {
  const pairs = new Map<string, ReceivedPair[]>();
  for (const pair of await mails.listNamedPairs()) addTo(pairs, writeProviderHotel(pair), pair);
  return pairs;
}

/** Cached names of providers: few, unless a column holds something else. */
const cachedProviders = 10_000;

/** Reads the provider of a line; a line is parsed only for a name that is not cached. */
function createProviderReader(): (line: string) => string | undefined {
  const names = new Map<string, string>();
  return (line) => {
    const written = findProvider(line);
    if (written === undefined) return undefined;
    const known = names.get(written);
    if (known !== undefined) return known;
    const { providerName } = readBooking(line);
    if (providerName === undefined) return undefined;
    if (names.size === cachedProviders) names.clear();
    // Copied, because a slice would keep the whole batch in memory.
    names.set(Buffer.from(written).toString(), providerName);
    return providerName;
  };
}
