import { formatCount } from '../base/format.js';
import type { WriteCommand } from '../base/shell.js';
import type { AcceptanceKind, ImplausibleAffected } from './run.js';
import { formatShare } from './share.js';

/** What to do about a day that somebody has to accept: each case with its command. */
function adviseOn(kind: AcceptanceKind, day: string): readonly (readonly [when: string, line: string])[] {
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

/** A half sentence, with commands as messages name them. */
export function adviseInSentence(kind: AcceptanceKind, day: string): string {
  return adviseOn(kind, day)
    .map(([when, line]) => `${when}, \`${line}\``)
    .join('; ');
}

/** A line for each case. */
export function adviseInLines(kind: AcceptanceKind, day: string, command: WriteCommand): string[] {
  return adviseOn(kind, day).map(
    ([when, line]) => `${when.slice(0, 1).toUpperCase()}${when.slice(1)}: ${command(line)}`,
  );
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
