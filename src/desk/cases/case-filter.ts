import * as z from 'zod';
import type { CaseSearch } from '../../cases/shown-cases.js';
import { mappingStates } from '../../ledger/case.js';
import { dayField, searchField } from '../fields.js';

/** In place of a name: only unassigned cases. */
export const nobody = '-';

/** A form sends all of its fields, including empty ones. */
const emptyAsAbsent = <Value>(value: Value | '') => (value === '' ? undefined : value);

const optionalDay = z
  .union([z.literal(''), dayField])
  .transform(emptyAsAbsent)
  .optional();

/** The fields of the query that select cases, so that links can be shared. */
export const filterFields = {
  /** Of the mapping, or `left`: every case with a booking that was never resolved. Without one: every case with an open booking. */
  state: z
    .enum(['', 'left', 'all', ...mappingStates])
    .transform(emptyAsAbsent)
    .optional(),
  provider: searchField,
  /** The code or, without one, the name of a country of one of the two hotels. */
  country: searchField,
  /** Only cases with an open booking whose check-in is before this day, or unknown. */
  checkInBefore: optionalDay,
  /** Only cases with an open booking of this business day. */
  day: optionalDay,
  /** A name, or `nobody`. */
  assignee: searchField,
  /** A part of a hotel's name or of the provider's hotel id; for those who may see bookings also a booking's reference. */
  text: searchField,
};

const filterSchema = z.object(filterFields);
export type ShownFilter = z.output<typeof filterSchema>;

/** The filter, as a page repeats it in its data. */
export function toFilterData(filter: ShownFilter) {
  const { state = null, provider = null, country = null, checkInBefore = null } = filter;
  const { day = null, assignee = null, text = null } = filter;
  return { state, provider, country, checkInBefore, day, assignee, text };
}

export function toSearch(
  { assignee, state, ...filter }: ShownFilter,
  asked: Pick<CaseSearch, 'today' | 'findsReferences'>,
): CaseSearch {
  const chosen = state === 'left' ? { left: true } : { state };
  return { ...filter, ...chosen, ...asked, assignee: assignee === nobody ? null : assignee };
}
