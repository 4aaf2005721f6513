import { formatCount } from '../base/format.js';
import type { Advice } from './finding.js';
import type { AcceptanceKind, ImplausibleAffected } from './run.js';
import { formatShare } from './share.js';

/** What to do about a day that somebody has to accept: each case with its command. */
export function adviseOn(kind: AcceptanceKind, day: string): Advice {
  switch (kind) {
    case 'volume':
      return [
        ['once the export is complete', `replay ${day} --late`],
        ['if it is right', `run ${day} --accept-volume`],
      ];
    case 'affected':
      return [
        ['to look at them', `affected ${day}`],
        ['once what is wrong is corrected', `replay ${day}`],
        ['if they are right', `run ${day} --accept-affected`],
      ];
  }
}

/** For the audit trail: the options that accept it. */
export function auditAccepted(kinds: readonly AcceptanceKind[] = []): Record<string, true> {
  const options = { volume: 'acceptVolume', affected: 'acceptAffected' } as const;
  return Object.fromEntries(kinds.map((kind) => [options[kind], true]));
}

export function shareOf({ affected, judged }: ImplausibleAffected): number {
  return Number((affected / Math.max(1, judged)).toFixed(4));
}

/** "implausibly many affected bookings: 30 of 200 with a verdict (15%)" */
export function describeImplausible(implausible: ImplausibleAffected): string {
  const { affected, judged } = implausible;
  return `implausibly many affected bookings: ${formatCount(affected)} of ${formatCount(judged)} with a verdict (${formatShare(shareOf(implausible))})`;
}
