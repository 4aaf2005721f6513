import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { maxProviders } from '../review/collect/provider-counts.js';
import type { Silence } from '../review/verdict.js';
import { type Outcome, type OutcomeSources, readNamedPairs, readOutcomes } from './outcomes.js';

/**
 * What became of the bookings of a day, by provider; null for bookings without one, and for the names beyond a
 * thousand.
 */
export interface DayScore {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly providers: ReadonlyMap<string | null, ProviderDay>;
}

/** See `ProviderScore`. */
export interface ProviderDay {
  readonly sent: number;
  readonly known: number;
  readonly affected: number;
  readonly byEmail: number;
  readonly namedByEmail: number;
  readonly suspects: { readonly flagged: number; readonly known: number; readonly incorrect: number };
  /** The provider's ids of the hotels that an incorrect booking names. */
  readonly affectedHotels: ReadonlySet<string>;
}

export interface DayScoreParts {
  readonly ledger: ReadOnlyLedger;
  readonly signal: AbortSignal;
  /** Undefined where silence means nothing. */
  readonly silence?: Silence | undefined;
}

/** Streams the stored bookings: one batch is held at a time. */
export async function* scoreDays(
  { silence, ...parts }: DayScoreParts,
  days: readonly string[],
): AsyncGenerator<DayScore, void, undefined> {
  const sources = { namedPairs: await readNamedPairs(parts.ledger), silence };
  for (const day of days) yield await scoreDay(parts, day, sources);
}

export async function scoreDay(
  { ledger, signal }: Omit<DayScoreParts, 'silence'>,
  day: string,
  sources: OutcomeSources,
): Promise<DayScore> {
  const providers = new Map<string | null, ReturnType<typeof createProviderDay>>();
  const scoreOf = (name: string | undefined) => {
    const known = providers.get(name ?? null);
    if (known) return known;
    const key = name === undefined || providers.size >= maxProviders ? null : name;
    const score = providers.get(key) ?? createProviderDay();
    providers.set(key, score);
    return score;
  };
  for await (const outcomes of readOutcomes(ledger, day, sources)) {
    signal.throwIfAborted();
    for (const outcome of outcomes) scoreOf(outcome.providerName).add(outcome);
  }
  return { day, providers: new Map([...providers].map(([name, score]) => [name, score.total()])) };
}

function createProviderDay() {
  const counts = { sent: 0, known: 0, affected: 0, byEmail: 0, namedByEmail: 0 };
  const suspects = { flagged: 0, known: 0, incorrect: 0 };
  const affectedHotels = new Set<string>();
  return {
    add({ verdict, isNamedByEmail, isSuspect, providerHotelId }: Outcome): void {
      const isIncorrect = isNamedByEmail || verdict.verdict === 'incorrect';
      counts.sent += 1;
      if (isSuspect) suspects.flagged += 1;
      if (verdict.verdict === 'unknown') {
        if (verdict.reason === 'by-email') counts.byEmail += 1;
        if (isNamedByEmail) counts.namedByEmail += 1;
      } else {
        counts.known += 1;
        if (isIncorrect) counts.affected += 1;
        if (isSuspect) suspects.known += 1;
        if (isSuspect && isIncorrect) suspects.incorrect += 1;
      }
      if (isIncorrect && providerHotelId !== undefined) affectedHotels.add(providerHotelId);
    },
    total: (): ProviderDay => ({ ...counts, suspects, affectedHotels }),
  };
}
