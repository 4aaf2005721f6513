import * as z from 'zod';
import { mappingStates } from '../../cases/case.js';
import type { CaseSearch } from '../../cases/search-cases.js';
import { dayField, searchField } from '../routing/fields.js';

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
  state: z
    .enum(['', 'all', ...mappingStates])
    .transform(emptyAsAbsent)
    .optional()
    .describe('Of the mapping. Without one: every case with an open booking.'),
  provider: searchField,
  country: searchField.describe('The code or, without one, the name of a country of one of the two hotels.'),
  checkInBefore: optionalDay.describe(
    'Only cases with an open booking whose check-in is before this day, or unknown.',
  ),
  day: optionalDay.describe('Only cases with an open booking of this business day.'),
  assignee: searchField.describe(`A name, or ${nobody} for cases that nobody has taken.`),
  text: searchField.describe(
    "A part of a hotel's name or of the provider's hotel id; with the permission see-bookings also the reference of a booking.",
  ),
};

const filterSchema = z.object(filterFields);
export type ShownFilter = z.output<typeof filterSchema>;

/** The filter that a page repeats in its data. */
export const filterData = z.object({
  state: z.enum(['all', ...mappingStates]).nullable(),
  provider: z.string().nullable(),
  country: z.string().nullable(),
  checkInBefore: z.string().nullable(),
  day: z.string().nullable(),
  assignee: z.string().nullable(),
  text: z.string().nullable(),
});

export type FilterData = z.output<typeof filterData>;

export function toFilterData(filter: ShownFilter): FilterData {
  const { state = null, provider = null, country = null, checkInBefore = null } = filter;
  const { day = null, assignee = null, text = null } = filter;
  return { state, provider, country, checkInBefore, day, assignee, text };
}

export function toSearch(
  { assignee, ...filter }: ShownFilter,
  asked: Pick<CaseSearch, 'today' | 'findsReferences'>,
): CaseSearch {
  return { ...filter, ...asked, assignee: assignee === nobody ? null : assignee };
}
