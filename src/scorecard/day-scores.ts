import { createHash } from 'node:crypto';
import { giveWay } from '../async/give-way.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { maxProviders } from '../review/collect/store-bookings.js';
import type { Silence } from '../review/verdict.js';

import { type Outcome, readNamedPairs, readOutcomes } from './outcomes.js';

/** What became of the bookings of a day, by provider; see `findScore`. */
export interface DayScore {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly providers: ReadonlyMap<string | null, ProviderDay>;
}

export type ProviderDay = ReturnType<typeof createProviderDay>;

function createProviderDay() {
  return {
    sent: 0,
    /** Sent bookings about which a result, or silence as agreed, says that their mapping is correct or incorrect. */
    known: 0,
    /** Of these, the incorrect ones, including those that only an e-mail calls incorrect. */
    affected: 0,
    /** Bookings that went by body, without such a verdict: an e-mail names incorrect ones only. */
    byEmail: 0,
    /** Bookings without such a verdict that an e-mail names. They have no share, because nobody knows out of how many. */
    namedByEmail: 0,
    /** Flagged by the local copy of the mappings before they were sent. */
    suspects: { flagged: 0, known: 0, incorrect: 0 },
    /** The provider's ids of the hotels that an incorrect booking names. */
    affectedHotels: new Set<string>(),
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
export function findScore<Score>(
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

/**
 * The scores of days, each read from its stored bookings once, and again when something about it has changed: a million
 * bookings take seconds.
 */
export type ScoreMemory = ReturnType<typeof createScoreMemory>;

export function createScoreMemory(ledger: ReadOnlyLedger) {
  const remembered = new Map<string, { readonly mark: string; readonly score: DayScore }>();

  /** @param days YYYY-MM-DD, ascending @param silence undefined where silence means nothing */
  return async (
    days: readonly string[],
    { signal, silence }: { readonly signal: AbortSignal; readonly silence?: Silence | undefined },
  ): Promise<readonly DayScore[]> => {
    const [from, to] = [days.at(0), days.at(-1)];
    if (from === undefined || to === undefined) return [];
    const namedPairs = await readNamedPairs(ledger);
    const common = hash([[...namedPairs.body], silence?.afterMs, silence?.brokenAt]);
    const marks = new Map<string, string>();
    for (const { day, mark, finishedAt } of await ledger.runs.markDays({ from, to }))
      marks.set(day, `${mark} ${common} ${listSilent(finishedAt, silence)}`);
    const scores: DayScore[] = [];
    for (const day of days) {
      const mark = marks.get(day);
      const known = remembered.get(day);
      if (mark === undefined) scores.push({ day, providers: new Map() });
      else if (known?.mark === mark) scores.push(known.score);
      else {
        // A day of which nothing was delivered has no batch, between which others get their turn.
        await giveWay(signal);
        const score = { day, providers: new Map<string | null, ProviderDay>() };
        for await (const outcomes of readOutcomes(ledger, day, { namedPairs, silence })) {
          signal.throwIfAborted();
          for (const outcome of outcomes)
            count(findScore(score.providers, outcome.providerName ?? null, createProviderDay), outcome);
        }
        scores.push(score);
        remember(mark, score);
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

/** For which runs silence has lasted long enough by now. */
function listSilent(finishedAt: readonly number[], silence: Silence | undefined): string {
  if (!silence) return '';
  return finishedAt.map((at) => Number(silence.now - at >= silence.afterMs)).join('');
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}
