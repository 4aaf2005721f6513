import type { RawBooking } from '../booking/booking.js';
import { readFieldText } from '../booking/field-text.js';
import type { MappingCopy, ProviderHotel } from '../mappings/mapping-copy.js';
import type { BookingSource, SourceChunk, SourceRecord } from '../review/source.js';

type Copy = Pick<MappingCopy, 'lookUp'>;

/** The limit of one lookup in the local copy. */
const lookedUpAtOnce = 1_000;

/**
 * Wraps a source: a record without a ServiceId gets the one from the local copy of the mappings, if that knows the
 * provider's hotel, and is marked. A record with an invalid ServiceId stays as it is.
 */
export function createFillingSource(source: BookingSource, copy: Copy): BookingSource {
  return {
    locate: (day) => source.locate(day),
    placeUnit: source.placeUnit,
    measure: (day) => source.measure(day),
    async *read(day, options) {
      for await (const chunk of source.read(day, options)) yield fillIn(chunk, copy);
    },
  };
}

async function fillIn(chunk: SourceChunk, copy: Copy): Promise<SourceChunk> {
  const lacking = chunk.records.flatMap((record, index) => {
    const hotel = 'fields' in record ? findHotelWithoutMaster(record.fields) : undefined;
    return hotel && 'fields' in record ? [{ record, index, hotel }] : [];
  });
  if (lacking.length === 0) return chunk;
  const records: SourceRecord[] = [...chunk.records];
  for (let first = 0; first < lacking.length; first += lookedUpAtOnce) {
    const asked = lacking.slice(first, first + lookedUpAtOnce);
    const found = await copy.lookUp(asked.map(({ hotel }) => hotel));
    asked.forEach(({ record: { place, fields, kept }, index }, position) => {
      const ServiceId = found[position]?.serviceId;
      if (ServiceId !== undefined)
        records[index] = {
          place,
          fields: { ...fields, ServiceId },
          isFilledIn: true,
          ...(kept && { kept }),
        };
    });
  }
  return { ...chunk, records };
}

/** The provider's hotel of a record whose ServiceId is missing, as design 4 defines missing. */
function findHotelWithoutMaster(fields: RawBooking): ProviderHotel | undefined {
  if (readFieldText(fields.ServiceId) !== undefined) return undefined;
  const providerName = readFieldText(fields.ProviderName);
  const providerHotelId = readFieldText(fields.ProviderHotelId);
  return typeof providerName === 'string' && typeof providerHotelId === 'string'
    ? { providerName, providerHotelId }
    : undefined;
}
