import * as z from 'zod';
import { caseOrigins, mappingStates } from '../../cases/case.js';
import type { HistoryReport } from '../../report/booking-history.js';
import type { CanaryReport } from '../../report/canary.js';
import { hotelReport, mappingReport } from '../mappings/mapping-schema.js';

const instant = z.iso.datetime();
const locatedHotel = hotelReport
  .extend({ timeZone: z.string().nullable(), localTime: z.string().nullable() })
  .nullable();

const history = z.object({
  runId: z.string(),
  day: z.string(),
  runState: z.string(),
  state: z.enum(['delivered', 'refused', 'pending', 'rejected']),
  booking: z.record(z.string(), z.unknown()).exactOptional(),
  verdict: z.enum(['correct', 'incorrect', 'unknown']),
  posted: z.literal(true).exactOptional(),
  verdictReason: z
    .enum(['not-in-result', 'unclear', 'awaiting-result', 'by-email', 'not-delivered'])
    .exactOptional(),
  namedByEmailAt: instant.exactOptional(),
  mappingNamedByEmailAt: instant.exactOptional(),
  case: z
    .object({
      id: z.int(),
      state: z.enum(mappingStates),
      origins: z.array(z.enum(caseOrigins)).readonly(),
      bookingState: z.enum(['open', 'resolved', 'stayed']).nullable(),
    })
    .exactOptional(),
  bySilence: z.literal(true).exactOptional(),
  suspect: z
    .object({
      reason: z.enum(['other-master', 'moved']),
      copyServiceId: z.number().nullable(),
      movedAt: instant.nullable(),
    })
    .exactOptional(),
  kept: z.record(z.string(), z.string()).exactOptional(),
  step: z.string().exactOptional(),
  attempts: z
    .array(
      z.object({
        step: z.string(),
        attempt: z.int(),
        startedAt: instant,
        endedAt: instant,
        outcome: z.enum(['done', 'refused', 'failed', 'halved', 'retry', 'fatal', 'overdue', 'interrupted']),
        code: z.string(),
        httpStatus: z.int().exactOptional(),
        statusCode: z.int().exactOptional(),
        answer: z.string().exactOptional(),
        sha256: z.string().exactOptional(),
      }),
    )
    .readonly()
    .exactOptional(),
  rejected: z.object({ place: z.int(), reason: z.string() }).exactOptional(),
  copyServiceId: z.number().nullable().exactOptional(),
  bookedHotel: locatedHotel.exactOptional(),
  copyHotel: locatedHotel.exactOptional(),
  distanceKm: z.number().nullable().exactOptional(),
  hoursToCheckIn: z.number().nullable().exactOptional(),
}) satisfies z.ZodType<HistoryReport>;

/** Why a guest's name is here, or why not. */
export const nameStates = [
  'shown',
  'masked',
  'pseudonym',
  'left-out',
  'removed',
  'erased',
  'not-given',
] as const;

/** A booking in one run: what `show --json` prints, and more. */
const bookingInRun = history.extend({
  delivery: z.enum(['body', 'file']),
  trigger: z.enum(['schedule', 'hook', 'manual', 'replay', 'today']),
  /** The number of its row in the file, without the header; null for a booking that went by body. */
  fileRow: z.int().nullable(),
  deliveredAt: instant.nullable(),
  guest: z.object({ state: z.enum(nameStates), name: z.string().nullable() }).nullable(),
});

const canary = z.object({
  reference: z.string(),
  runId: z.string(),
  day: z.string(),
  state: z.enum(['unsent', 'not-taken', 'waiting', 'named', 'missed']),
  sentAt: instant.nullable(),
  dueAt: instant.nullable(),
  namedAt: instant.nullable(),
  namedBy: z.literal('email').nullable(),
  code: z.string().exactOptional(),
}) satisfies z.ZodType<CanaryReport>;

/** What is known about a booking reference; `reference` is null if none was asked for. */
export const bookingData = z.object({
  reference: z.string().nullable(),
  /** Whether the service's words are included. */
  answers: z.boolean(),
  /** Whether a guest with this reference was erased; null if that can't be told. */
  isErased: z.boolean().nullable(),
  canary: canary.exactOptional(),
  /** The newest run first. */
  bookings: z.array(bookingInRun),
  /** Each pair under which it was booked, as the local copy has it. */
  mappings: z.array(
    z.object({ providerName: z.string(), providerHotelId: z.string(), copied: mappingReport.nullable() }),
  ),
});

export type BookingData = z.output<typeof bookingData>;
export type BookingInRun = z.output<typeof bookingInRun>;
export type NameState = (typeof nameStates)[number];
