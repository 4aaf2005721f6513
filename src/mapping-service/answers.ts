import { readDate } from '../http/syntax.js';
import {
  checkOptionalText,
  type Fields,
  InvalidField,
  isObject,
  isPresent,
  placeOf,
  readArray,
  readInteger,
  readText,
  toInteger,
  unexpected,
} from './fields.js';
import type {
  Channel,
  Envelope,
  HotelBrand,
  MappingRecord,
  MappingsPage,
  MasterHotelBrands,
  SkippedMapping,
} from './operations.js';

/** Reads the answer of Get Master Hotel Brands (spec 2.4 and 4.4). @throws InvalidField */
export function readMasterHotelBrands(envelope: Envelope): MasterHotelBrands {
  const HotelBrands = readArray(envelope, 'HotelBrands').map((fields, index): HotelBrand => {
    const at = `HotelBrands[${index}]`;
    if (!isObject(fields)) throw unexpected(at, 'an object', fields);
    checkOptionalText(fields, 'BrandCode', at);
    checkOptionalText(fields, 'BrandName', at);
    return {
      ...fields,
      Id: readInteger(fields, 'Id', at),
      ...(isPresent(fields.ChainId) && { ChainId: readInteger(fields, 'ChainId', at) }),
    };
  });
  return { ...envelope, HotelBrands };
}

/** Up to this many unreadable mappings are never an error, because a share of a short page says little. */
const alwaysSkipped = 5;

/** How the answers of Get Mappings are read. */
export interface MappingsReading {
  /** The service's name of the master id; the returned records call it `ServiceId`. */
  readonly masterIdName: string;
  /** The values of `Type` that mean a deleted mapping, in lower case. */
  readonly deletedTypes: ReadonlySet<string>;
  /** A page of which a larger share cannot be read is an error. */
  readonly maxSkippedShare: number;
}

/**
 * Reads the answer of Get Mappings (spec 2.2 and 2.3). What is unambiguous is read leniently. A mapping that cannot be
 * read is skipped and listed beside the others: one odd row must not stop every sync.
 *
 * @param date the answer's header
 * @throws InvalidField for a page that is unreadable as a whole, or of which too many mappings are
 */
export function readMappingsPage(
  envelope: Envelope,
  { date, ...reading }: MappingsReading & { readonly date: string | undefined },
): MappingsPage {
  checkOptionalText(envelope, 'ResumeKey');
  const rows = readArray(envelope, 'Mappings');
  const Mappings: MappingRecord[] = [];
  const skipped: SkippedMapping[] = [];
  for (const [index, record] of rows.entries()) {
    try {
      Mappings.push(readMapping(record, `Mappings[${index}]`, reading));
    } catch (error) {
      if (!(error instanceof InvalidField)) throw error;
      skipped.push({ index, field: error.field, reason: error.message, record });
    }
  }
  const [first] = skipped;
  if (first && skipped.length > Math.max(alwaysSkipped, rows.length * reading.maxSkippedShare)) {
    const count = `${skipped.length} of the ${rows.length} mappings of a page cannot be read`;
    throw new InvalidField(first.field, `${count}: ${first.reason}`);
  }
  return { ...envelope, Mappings, skipped, answeredAt: readDate(date) };
}

function readMapping(record: unknown, at: string, reading: MappingsReading): MappingRecord {
  if (!isObject(record)) throw unexpected(at, 'an object', record);
  const { masterIdName, deletedTypes } = reading;
  checkOptionalText(record, 'Type', at);
  const type = record.Type;
  const isDeleted = typeof type === 'string' && deletedTypes.has(type.trim().toLowerCase());
  const channelIds = readChannelIds(record, at);
  return {
    ...(leaveOut(record, masterIdName) as Omit<MappingRecord, 'ServiceId'>),
    ...('ChannelIds' in record && { ChannelIds: channelIds ?? null }),
    ...readLocation(record, at),
    ServiceId: isDeleted && isAbsentId(record[masterIdName]) ? null : readMasterId(record, masterIdName, at),
    ProviderHotelId: readText(record, 'ProviderHotelId', at),
    ProviderName: readText(record, 'ProviderName', at),
    channels: (channelIds ?? []).map(splitChannel),
  };
}

/** Copying an object without one member is several times slower, so it is done only where the name differs. */
function leaveOut(fields: Fields, masterIdName: string): Fields {
  if (masterIdName === 'ServiceId') return fields;
  const { [masterIdName]: _, ...others } = fields;
  return others;
}

/** A deletion may omit its master hotel: the id is missing, blank, or 0, which no hotel has. */
function isAbsentId(value: unknown): boolean {
  return !isPresent(value) || value === 0 || (typeof value === 'string' && /^0*$/.test(value.trim()));
}

/** A master hotel id: from 1 to 2^53-1. */
function readMasterId(fields: Fields, name: string, at: string): number {
  const value = toInteger(fields[name]);
  if (value !== undefined && value >= 1) return value;
  throw unexpected(placeOf(name, at), 'an integer from 1 to 2^53-1', fields[name]);
}

/** A location written as a number is converted to text. */
function readLocation(fields: Fields, at: string): { readonly ProviderLocationCode?: string } {
  const value = fields.ProviderLocationCode;
  if (typeof value === 'number' && Number.isSafeInteger(value))
    return { ProviderLocationCode: String(value) };
  checkOptionalText(fields, 'ProviderLocationCode', at);
  return {};
}

/** An array of strings, or a single one; nulls in it are dropped. Undefined if absent. */
function readChannelIds(fields: Fields, at: string): readonly string[] | undefined {
  const value = fields.ChannelIds;
  if (!isPresent(value)) return undefined;
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) throw unexpected(placeOf('ChannelIds', at), 'an array', value);
  if (value.every((element) => typeof element === 'string')) return value;
  return value.filter(isPresent).map((element: unknown, index) => {
    if (typeof element === 'string') return element;
    throw unexpected(`${placeOf('ChannelIds', at)}[${index}]`, 'a string', element);
  });
}

/** Splits a channel name from its rate plan type, which may contain further commas. (Spec 2.2.) */
function splitChannel(original: string): Channel {
  const comma = original.indexOf(',');
  if (comma === -1) return { channel: original.trim(), original };
  return {
    channel: original.slice(0, comma).trim(),
    ratePlanType: original.slice(comma + 1).trim(),
    original,
  };
}
