import { readDate } from '../http/headers.js';
import type { HttpAnswer } from '../http/transport.js';
import type {
  Channel,
  Envelope,
  HotelBrand,
  MappingRecord,
  MappingsPage,
  MasterHotelBrands,
} from './operations.js';

/** The members of a JSON object of the service, by its own names. */
type Fields = Readonly<Record<string, unknown>>;

/** A field is missing or of another type. The message names it and never quotes its value. */
export class InvalidField extends Error {
  override readonly name = 'InvalidField';
  readonly field: string;

  constructor(field: string, expected: string, value: unknown) {
    super(`expected ${field} to be ${expected}, got: ${describe(value, expected)}`);
    this.field = field;
  }
}

/** The JSON of a whole 200; undefined for any other answer, and for what is not JSON. */
export function readJson(answer: HttpAnswer): unknown {
  return answer.status === 200 && !answer.bodyTruncated ? parseJson(answer.body) : undefined;
}

/** Undefined when it is not JSON. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    // The parser's message quotes the answer, which may name a guest: it is dropped.
    return undefined;
  }
}

/** Reads the envelope of a success (spec 2.1), keeping whatever else the answer holds. @throws InvalidField */
export function readEnvelope(json: unknown): Envelope {
  const fields = isObject(json) ? json : {};
  checkOptionalText(fields, 'Message');
  return {
    ...fields,
    Status: readBoolean(fields, 'Status'),
    StatusCode: readInteger(fields, 'StatusCode'),
  };
}

/** Reads the answer of Get Master Hotel Brands (spec 2.4 and 4.4). @throws InvalidField */
export function readMasterHotelBrands(envelope: Envelope): MasterHotelBrands {
  const HotelBrands = readObjects(envelope, 'HotelBrands').map(({ fields, at }): HotelBrand => {
    checkOptionalText(fields, 'BrandCode', at);
    checkOptionalText(fields, 'BrandName', at);
    checkOptionalInteger(fields, 'ChainId', at);
    return { ...fields, Id: readInteger(fields, 'Id', at) };
  });
  return { ...envelope, HotelBrands };
}

/**
 * Reads the answer of Get Mappings (spec 2.2 and 2.3).
 *
 * @param masterIdName the service's name of the master id; the returned records call it `ServiceId`
 * @param date the answer's header
 * @throws InvalidField
 */
export function readMappingsPage(
  envelope: Envelope,
  { masterIdName, date }: { readonly masterIdName: string; readonly date: string | undefined },
): MappingsPage {
  checkOptionalText(envelope, 'ResumeKey');
  const Mappings = readObjects(envelope, 'Mappings').map(({ fields, at }) =>
    readMapping(fields, at, masterIdName),
  );
  return { ...envelope, Mappings, answeredAt: readDate(date) };
}

function readMapping(fields: Fields, at: string, masterIdName: string): MappingRecord {
  checkOptionalText(fields, 'ProviderLocationCode', at);
  checkOptionalText(fields, 'Type', at);
  return {
    ...(leaveOut(fields, masterIdName) as Omit<MappingRecord, 'ServiceId'>),
    ServiceId: readMasterId(fields, masterIdName, at),
    ProviderHotelId: readText(fields, 'ProviderHotelId', at),
    ProviderName: readText(fields, 'ProviderName', at),
    channels: readOptionalTexts(fields, 'ChannelIds', at).map(splitChannel),
  };
}

/** Copying an object without one member is several times slower, so it is done only where the name differs. */
function leaveOut(fields: Fields, masterIdName: string): Fields {
  if (masterIdName === 'ServiceId') return fields;
  const { [masterIdName]: _, ...others } = fields;
  return others;
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

/** @param at the object's place, here and below: `Mappings[3]`, or nothing for the answer itself */
function readText(fields: Fields, name: string, at = ''): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new InvalidField(placeOf(name, at), 'a string', value);
  return value;
}

/** The specification does not say which fields are optional: most may be missing or null. */
function checkOptionalText(fields: Fields, name: string, at = ''): void {
  if (isPresent(fields[name])) readText(fields, name, at);
}

function readBoolean(fields: Fields, name: string, at = ''): boolean {
  const value = fields[name];
  if (typeof value !== 'boolean') throw new InvalidField(placeOf(name, at), 'a boolean', value);
  return value;
}

/** An integer that a JavaScript number holds exactly. */
function readInteger(fields: Fields, name: string, at = ''): number {
  const value = fields[name];
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new InvalidField(placeOf(name, at), 'an integer', value);
}

function checkOptionalInteger(fields: Fields, name: string, at = ''): void {
  if (isPresent(fields[name])) readInteger(fields, name, at);
}

/** A master hotel id: from 1 to 2^53-1. */
function readMasterId(fields: Fields, name: string, at: string): number {
  const value = fields[name];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw new InvalidField(placeOf(name, at), 'an integer from 1 to 2^53-1', value);
}

/** The elements of an array of objects, each with its place; none where the array is null. */
function readObjects(fields: Fields, name: string): { readonly fields: Fields; readonly at: string }[] {
  const value = fields[name];
  if (value === null) return [];
  if (!Array.isArray(value)) throw new InvalidField(name, 'an array', value);
  return value.map((element: unknown, index) => {
    const at = `${name}[${index}]`;
    if (!isObject(element)) throw new InvalidField(at, 'an object', element);
    return { fields: element, at };
  });
}

/** An array of strings; empty where it is null or missing. */
function readOptionalTexts(fields: Fields, name: string, at: string): readonly string[] {
  const value = fields[name];
  if (!isPresent(value)) return [];
  if (!Array.isArray(value)) throw new InvalidField(placeOf(name, at), 'an array', value);
  return value.map((element: unknown, index) => {
    if (typeof element === 'string') return element;
    throw new InvalidField(`${placeOf(name, at)}[${index}]`, 'a string', element);
  });
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function placeOf(name: string, at: string): string {
  return at === '' ? name : `${at}.${name}`;
}

function describe(value: unknown, expected: string): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return expected.startsWith('an integer') ? 'another number' : 'a number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
