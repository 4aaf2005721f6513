import type { BookingHistory } from '../cases/booking-history.js';
import type { Suspicion } from '../review/suspects/listing.js';
import type { UnknownReason } from '../review/verdict.js';
import type { Why } from '../review/verdicts/listing.js';
import { formatInstant } from '../text/format.js';

/** The verdict in a sentence, and why none is known. */
export function describeVerdict(history: BookingHistory, show: (instant: number) => string): string {
  const { verdict, verdictReason, state, posted, bySilence } = history;
  switch (verdict) {
    case 'correct':
      return bySilence
        ? 'counts as correct, because no e-mail named it in time (verdicts.silenceMeansCorrectAfter)'
        : 'its mapping is correct';
    case 'incorrect':
      return `affected, its mapping is incorrect${describeNaming(history, show)}`;
    case 'unknown':
      if (state === 'refused') return 'unknown, the service refused it';
      if (verdictReason === 'by-email' && posted)
        return "unknown: it can't be in the file and went by body; the service reports such verdicts by e-mail only";
      return `unknown, ${describeReason(verdictReason ?? 'not-delivered')}`;
  }
}

function describeNaming(
  { namedByEmailAt, mappingNamedByEmailAt }: BookingHistory,
  show: (instant: number) => string,
): string {
  if (namedByEmailAt !== undefined) return ` (named by e-mail of ${show(Date.parse(namedByEmailAt))})`;
  if (mappingNamedByEmailAt === undefined) return '';
  return ` (its hotel was named by e-mail of ${show(Date.parse(mappingNamedByEmailAt))})`;
}

function describeReason(reason: UnknownReason): string {
  switch (reason) {
    case 'not-in-result':
      return 'the result does not name it';
    case 'unclear':
      return 'the result names it without a readable verdict about this master hotel';
    case 'awaiting-result':
      return 'no result has arrived yet';
    case 'by-email':
      return 'it went by body, and the service reports such verdicts by e-mail only';
    case 'not-delivered':
      return 'it was not delivered';
  }
}

/** What the copy says about one booking, in a few words. */
export function describeSuspicion(
  { reason, copyServiceId, movedAt }: Suspicion,
  show = formatInstant,
): string {
  const seen = movedAt === null ? '' : ` (seen ${show(Date.parse(movedAt))})`;
  switch (reason) {
    case 'other-master':
      return `suspect: the local copy has its hotel under ServiceId ${copyServiceId}${movedAt === null ? '' : ', to which it was moved'}${seen}`;
    case 'moved':
      return copyServiceId === null
        ? `suspect: its mapping was deleted${seen}`
        : `suspect: its mapping changed to this ServiceId recently${seen}`;
  }
}

/** Why a booking is in a list, in a column; undefined where the list itself says it. */
export function describeWhy(why: Why & { readonly copyServiceId: number | null }): string | undefined {
  const { verdictReason, code, field, reason, movedAt, copyServiceId } = why;
  if (field !== undefined) return reason === 'missing' ? `no ${field}` : `${field} reads as null`;
  if (reason === 'moved')
    return `${copyServiceId === null ? 'deleted' : 'moved'} ${movedAt?.slice(0, 'YYYY-MM-DD'.length) ?? ''}`;
  return verdictReason ?? code ?? reason;
}
