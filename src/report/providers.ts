import type { ProviderScore } from '../scorecard/scorecard.js';
import { wilsonInterval } from '../scorecard/wilson.js';

/** A provider as `providers --json` prints it. Unknown is null, never 0. */
export interface ProviderReport
  extends Pick<
    ProviderScore,
    'providerName' | 'sent' | 'known' | 'byEmail' | 'namedByEmail' | 'cases' | 'corrected'
  > {
  readonly affected: number | null;
  readonly affectedShare: number | null;
  /** The 95 % interval of that share, after Wilson. */
  readonly affectedShareLow: number | null;
  readonly affectedShareHigh: number | null;
  readonly medianHoursToCorrection: number | null;
  readonly suspects: { readonly flagged: number; readonly known: number; readonly incorrect: number | null };
  readonly repeatOffenders: ProviderScore['repeatOffenders'];
}

export function toProviderReport(score: ProviderScore): ProviderReport {
  const { providerName, sent, known, affected, byEmail, namedByEmail, suspects, cases, corrected } = score;
  const interval = wilsonInterval(affected, known);
  return {
    providerName,
    sent,
    known,
    affected: interval ? affected : null,
    affectedShare: interval ? round(affected / known) : null,
    affectedShareLow: interval ? round(interval.low) : null,
    affectedShareHigh: interval ? round(interval.high) : null,
    byEmail,
    namedByEmail,
    suspects: { ...suspects, incorrect: suspects.known === 0 ? null : suspects.incorrect },
    cases,
    corrected,
    medianHoursToCorrection:
      score.medianHoursToCorrection === null ? null : Number(score.medianHoursToCorrection.toFixed(1)),
    repeatOffenders: score.repeatOffenders,
  };
}

const round = (share: number) => Number(share.toFixed(6));

/** The most certain offender first, by the lower end of the interval; those without a known verdict last. */
export function orderProviders(reports: readonly ProviderReport[]): ProviderReport[] {
  return reports.toSorted(
    (a, b) => (b.affectedShareLow ?? -1) - (a.affectedShareLow ?? -1) || b.sent - a.sent,
  );
}

/** Why no verdict is known: never "0 %". */
export function nameUnknown({ sent, byEmail }: ProviderReport): string {
  if (sent === 0) return '-';
  return byEmail === sent ? 'by e-mail' : 'no result';
}
