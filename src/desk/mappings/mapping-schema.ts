import * as z from 'zod';
import type { HotelReport } from '../../report/hotels.js';
import type { MappingReport, StatsReport } from '../../report/mappings.js';

const text = z.string().nullable();
const instant = z.iso.datetime();

/** The content of a master hotel, as commands print it. */
export const hotelReport = z.object({
  serviceId: z.number(),
  name: text,
  address: text,
  city: text,
  country: text,
  countryCode: text,
  latitude: z.number().nullable(),
  longitude: z.number().nullable(),
  phones: text,
  email: text,
  website: text,
  loadedAt: instant,
}) satisfies z.ZodType<HotelReport>;

/** A provider's hotel, as `mappings show --json` prints it. */
export const mappingReport = z.object({
  providerName: z.string(),
  providerHotelId: z.string(),
  serviceId: z.number().nullable(),
  locationCode: text,
  channelIds: z.array(z.string()).readonly(),
  firstSeenAt: instant,
  movedAt: instant.nullable(),
  history: z.array(z.object({ from: z.number().nullable(), to: z.number().nullable(), seenAt: instant })),
}) satisfies z.ZodType<MappingReport>;

const count = z.int().nonnegative();

/** The contents of the copy, as `mappings stats --json` prints them. */
export const statsReport = z.object({
  mappings: count,
  masterHotels: count,
  deleted: count,
  providers: z.array(z.object({ providerName: z.string(), mappings: count })).readonly(),
  syncs: z.array(
    z.object({
      syncId: z.string(),
      providerFamily: text,
      since: instant,
      startedAt: instant,
      serviceStartedAt: instant.nullable(),
      finishedAt: instant.nullable(),
      pages: count,
      read: count,
      added: count,
      moved: count,
      updated: count,
      deleted: count,
      unchanged: count,
      skipped: count,
      newHotels: count,
      restarts: count,
    }),
  ),
  skipped: count,
  lastSkipped: z.array(
    z.object({ providerFamily: text, seenAt: instant, reason: z.string(), record: z.string() }),
  ),
}) satisfies z.ZodType<StatsReport>;
