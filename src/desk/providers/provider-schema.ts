import * as z from 'zod';
import type { ProviderReport } from '../../report/providers.js';

const count = z.int().nonnegative();
const share = z.number().nullable();

/** A provider, as `providers --json` prints it. Unknown is null. */
export const providerReport = z.object({
  providerName: z.string().nullable(),
  sent: count,
  known: count,
  affected: count.nullable(),
  affectedShare: share,
  affectedShareLow: share,
  affectedShareHigh: share,
  byEmail: count,
  namedByEmail: count,
  suspects: z.object({ flagged: count, known: count, incorrect: count.nullable() }),
  cases: count,
  corrected: count,
  medianHoursToCorrection: z.number().nullable(),
  repeatOffenders: z.array(z.object({ providerHotelId: z.string(), cases: count, days: count })).readonly(),
}) satisfies z.ZodType<ProviderReport>;

/** What became of a provider's bookings over some days. */
export const courseItem = z.object({
  /** The first day, YYYY-MM-DD. */
  from: z.string(),
  sent: count,
  known: count,
  /** Null without a known verdict. */
  affected: count.nullable(),
  namedByEmail: count,
});

export type CourseItem = z.output<typeof courseItem>;
