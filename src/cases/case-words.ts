import { showInLine } from '../base/foreign-text.js';
import { formatCountOf, formatKilometres, shorten } from '../base/format.js';
import type { CaseOrigin } from '../rules/case.js';
import { automatic } from '../rules/case-transitions.js';
import type { caseToJson, shownCaseToJson } from './shown-cases.js';

/* A case in words, for people: what happened to it, and what the service is told about it. */

type Detail = 'origins' | 'bookings' | 'assignee' | 'as' | 'day' | 'mergedInto' | 'calledCorrect' | 'run';

/** An entry of its history, with whatever details its action has. */
type Entry = ReturnType<typeof shownCaseToJson>['history'][number] & {
  readonly [Name in Detail]?: string | number | boolean;
};

/** References named in one sentence. */
export const referencesNamed = 3;

/**
 * A sentence about who did what; nobody is named for what happens by itself.
 *
 * @param references of the bookings that the entry is about, one more than are named if there are others; null where they are hidden
 * @param showDay how a day is written
 */
export function describeEntry(
  entry: Entry,
  references: readonly string[] | null | undefined,
  showDay: (iso: string) => string,
): string {
  const named = nameReferences(references ?? []);
  const what = describeAct(entry, named, showDay);
  return entry.who === automatic ? what : `${showInLine(shorten(entry.who, 100))} ${what}`;
}

function nameReferences(references: readonly string[]): string {
  const named = references.slice(0, referencesNamed).map((reference) => showInLine(shorten(reference, 100)));
  if (named.length === 0) return 'a booking';
  return `${named.join(', ')}${references.length > named.length ? ' and others' : ''}`;
}

function describeAct(entry: Entry, named: string, showDay: (iso: string) => string): string {
  const { action, origins, assignee, mergedInto } = entry;
  switch (action) {
    case 'case-opened':
      return `opened${describeWhy(entry, named)}`;
    case 'case-reopened':
      return origins ? `opened again${describeWhy(entry, named)}` : 'opened it again';
    case 'case-updated':
      return describeUpdate(entry, named, showDay);
    case 'case-reported':
      return 'reported the mapping to the service';
    case 'case-escalated':
      return 'escalated: it was reported, and not corrected in time';
    case 'case-corrected':
      return 'corrected: the mapping moved';
    case 'case-dismissed':
      return mergedInto ? `dismissed: its master hotel was merged into ${mergedInto}` : 'dismissed it';
    case 'case-assigned':
      return `assigned it to ${assignee ? showInLine(String(assignee)) : 'nobody'}`;
    case 'case-noted':
      return 'changed its note';
    case 'case-resolved':
      return `marked ${formatCountOf(Number(entry.bookings), 'booking')} as ${entry.as}`;
    default:
      return action;
  }
}

function describeUpdate(entry: Entry, named: string, showDay: (iso: string) => string): string {
  const { day, bookings } = entry;
  const correct = describeCorrect(entry);
  if (correct !== undefined) return correct;
  if (day) return `its bookings changed on ${showDay(String(day))}`;
  const joined =
    Number(bookings) > 0 ? `${formatCountOf(Number(bookings), 'booking')} joined it` : 'found again';
  return `${joined}${describeWhy(entry, named)}`;
}

/** What an entry says about bookings that a result calls correct; undefined if it is about something else. */
export function describeCorrect({ calledCorrect, run }: Partial<Entry>): string | undefined {
  if (!calledCorrect) return undefined;
  const bookings = formatCountOf(Number(calledCorrect), 'named booking');
  return `the result of run ${showInLine(String(run))} calls ${bookings} correct; that resolves nothing`;
}

function describeWhy({ origins }: Entry, named: string): string {
  if (!origins) return '';
  const reasons = String(origins)
    .split(' ')
    .map((origin) => describeOrigin(origin as CaseOrigin, named));
  return ` because ${reasons.join(', and because ')}`;
}

function describeOrigin(origin: CaseOrigin, named: string): string {
  switch (origin) {
    case 'affected':
      return `the result marked ${named} as incorrect`;
    case 'email':
      return `an e-mail of the service named ${named}`;
    case 'suspect':
      return 'the local copy of the mappings differed';
    case 'watch':
      return 'the mapping moved or was deleted';
  }
}

type CaseJson = ReturnType<typeof caseToJson>;

/** The text that tells the service about a mapping: the pair, its ids and the distance; no guest, and no booking. */
export function writeReport(item: CaseJson): string {
  const { providerName, providerHotelId, serviceId, copyServiceId, copy } = item;
  const { bookedHotel, copyHotel, distanceKm } = item;
  const isMoved = copyServiceId !== null && copyServiceId !== serviceId;
  const lines = [
    'Please check this hotel mapping. It seems to be wrong.',
    `Provider: ${showInLine(providerName)}, hotel id ${showInLine(providerHotelId)}`,
    `Booked as ServiceId ${serviceId}${describeHotel(bookedHotel)}`,
    isMoved && `Now mapped to ServiceId ${copyServiceId}${describeHotel(copyHotel)}`,
    copy === 'unmapped' && 'Now not mapped to any ServiceId',
    isMoved && distanceKm !== null && `Distance: ${formatKilometres(distanceKm)}`,
  ];
  return lines.filter((line) => line !== false).join('\n');
}

function describeHotel(hotel: CaseJson['bookedHotel']): string {
  const { name = null, address = null, city = null, country = null } = hotel ?? {};
  const known = [name, address, city, country].filter((part) => part !== null);
  return known.length === 0 ? '' : `: ${known.map(showInLine).join(', ')}`;
}
