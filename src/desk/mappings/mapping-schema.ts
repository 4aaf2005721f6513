import * as z from 'zod';
import type { HotelReport } from '../../report/hotels.js';
import type { MappingReport } from '../../report/mappings.js';

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
