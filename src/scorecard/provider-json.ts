import type { ProviderScore } from './scorecard.js';
import { wilsonInterval } from './wilson.js';

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
