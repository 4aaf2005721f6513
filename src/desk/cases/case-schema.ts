import * as z from 'zod';
import { caseOrigins, mappingStates, resolutions } from '../../cases/case.js';
import type { toCaseReport, toShownReport } from '../../report/cases.js';
import { auditedActions } from '../../review/audit.js';
import { hotelReport, mappingReport } from '../mappings/mapping-schema.js';
import { filterData } from './case-filter.js';

/* Cases as `cases --json` and `case ID --json` print them. Types don't compile if a report and its schema differ. */

const count = z.int().nonnegative();
const text = z.string().nullable();
const kept = z.record(z.string(), z.string());

const hotel = hotelReport.extend({ timeZone: text, localTime: text });
export type HotelData = z.output<typeof hotel>;

const caseFields = {
  id: z.int(),
  providerName: z.string(),
  providerHotelId: z.string(),
  serviceId: z.int(),
  copyServiceId: z.int().nullable(),
  state: z.enum(mappingStates),
  origins: z.array(z.enum(caseOrigins)).readonly(),
  bookings: count,
  openBookings: count,
  firstCheckIn: text.describe('The nearest known one of an open booking.'),
  hasUnknownCheckIn: z.boolean().describe('Whether the check-in of an open booking is not known.'),
  openedAt: z.iso.datetime(),
  stateSince: z.iso.datetime(),
  move: z.enum(['re-pointed', 'merged', 'unmapped']).nullable(),
  assignee: text,
  note: text.describe('Null also without the permission see-bookings: people may name bookings in it.'),
  kept: kept.exactOptional(),
  bookedHotel: hotel.nullable(),
  copyHotel: hotel.nullable(),
  distanceKm: z.number().nullable(),
  hoursToCheckIn: z.int().nullable(),
};

export const caseReport = z.object(caseFields) satisfies z.ZodType<ReturnType<typeof toCaseReport>>;
export type CaseData = z.output<typeof caseReport>;

const booking = z.object({
  reference: text.describe('Null also without the permission see-bookings.'),
  checkIn: text,
  checkOut: text,
  state: z.enum(['open', 'resolved', 'stayed']),
  resolvedAs: z.enum(resolutions).exactOptional(),
  resolvedAt: z.iso.datetime().exactOptional(),
  note: text.exactOptional(),
  isNamed: z.boolean(),
  place: z.int(),
  kept: kept.exactOptional(),
});
export type BookingData = z.output<typeof booking>;

const historyEntry = z.looseObject({ at: z.iso.datetime(), who: z.string(), action: z.enum(auditedActions) });

const shownReport = z.object({
  ...caseFields,
  bookingList: z.array(booking).describe('Open ones with the nearest check-in first, page by page.'),
  history: z.array(historyEntry).describe('The oldest entry first; only the newest are here.'),
}) satisfies z.ZodType<ReturnType<typeof toShownReport>>;

/** What the page of a case shows. */
export const caseData = shownReport.extend({
  page: z.int(),
  pages: z.int(),
  entries: z.int().describe('How many the history has.'),
  mapping: mappingReport.nullable().describe('How the local copy has it, and how it moved.'),
  hasHotels: z.boolean().describe('Whether the content of hotels was ever loaded.'),
});
export type ShownCaseData = z.output<typeof caseData>;

export const casesPerPage = 50;

const choices = z.object({
  providers: z.array(z.string()).readonly(),
  countries: z.array(z.object({ id: z.string(), name: z.string() })).readonly(),
  assignees: z.array(z.string()).readonly(),
});

/** What the list shows. */
export const casesData = z.object({
  cases: z.array(caseReport).describe('Nearest check-in first.'),
  total: z.int().describe('On all pages.'),
  openBookings: z.int().describe('Of all these cases.'),
  page: z.int(),
  pages: z.int(),
  filter: filterData,
  choices: choices.describe('What the cases of this state and check-in can be narrowed down to.'),
});
export type CasesData = z.output<typeof casesData>;
