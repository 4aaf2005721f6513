import { readDate } from '../transports/http/peer-clocks.js';
import type { HttpAnswer } from '../transports/http/transport.js';
import type { HotelBrand, MappingRecord, MappingsPage, SkippedMapping } from './operations.js';

/** Reads the answer of Get Master Hotel Brands (spec 2.4 and 4.4). @throws InvalidField */
export function readMasterHotelBrands(answer: Fields): HotelBrand[] {
  return readArray(answer, 'HotelBrands').map((fields, index): HotelBrand => {
    const at = `HotelBrands[${index}]`;
    if (!isObject(fields)) throw unexpected(at, 'an object', fields);
    readOptionalText(fields, 'BrandCode', at);
    readOptionalText(fields, 'BrandName', at);
    return {
      ...fields,
      Id: readInteger(fields, 'Id', at),
      ...(isPresent(fields.ChainId) && { ChainId: readInteger(fields, 'ChainId', at) }),
    };
  });
}

/** Up to this many unreadable mappings are never an error, because a share of a short page says little. */
const alwaysSkipped = 5;

/** A page of which a larger share cannot be read is an error. */
const maxSkippedShare = 0.1;

/** Values of `Type` observed in a live deployment, in lower case. */
const deletedTypes: readonly string[] = ['delete', 'deleted'];

/** Whether a mapping is gone. */
export function isDeletion(type: unknown): boolean {
  return typeof type === 'string' && deletedTypes.includes(type.trim().toLowerCase());
}

/**
 * Reads the answer of Get Mappings (spec 2.2 and 2.3). What is unambiguous is read leniently. A mapping that cannot be
 * read is skipped and listed beside the others: one odd row must not stop every sync.
 *
 * @param masterIdName the service's name of the master id; the returned records call it `ServiceId`
 * @param date the answer's header
 * @throws InvalidField for a page that is unreadable as a whole, or of which too many mappings are
 */
export function readMappingsPage(
  answer: Fields,
  masterIdName: string,
  date: string | undefined,
): MappingsPage {
  const ResumeKey = readOptionalText(answer, 'ResumeKey');
  const rows = readArray(answer, 'Mappings');
  const Mappings: MappingRecord[] = [];
  const skipped: SkippedMapping[] = [];
  let firstField: string | undefined;
  for (const [index, record] of rows.entries()) {
    try {
      Mappings.push(readMapping(record, `Mappings[${index}]`, masterIdName));
    } catch (error) {
      if (!(error instanceof InvalidField)) throw error;
      skipped.push({ reason: error.message, record });
      firstField ??= error.field;
    }
  }
  const [first] = skipped;
  if (first && firstField && skipped.length > Math.max(alwaysSkipped, rows.length * maxSkippedShare)) {
    const count = `${skipped.length} of the ${rows.length} mappings of a page cannot be read`;
    throw new InvalidField(firstField, `${count}: ${first.reason}`);
  }
  return { ...(ResumeKey !== undefined && { ResumeKey }), Mappings, skipped, answeredAt: readDate(date) };
}

function readMapping(record: unknown, at: string, masterIdName: string): MappingRecord {
  if (!isObject(record)) throw unexpected(at, 'an object', record);
  readOptionalText(record, 'Type', at);
  const isUnnamed = isDeletion(record.Type) && isAbsentId(record[masterIdName]);
  return {
    ...(leaveOut(record, masterIdName) as Omit<MappingRecord, 'ServiceId'>),
    ...('ChannelIds' in record && { ChannelIds: readChannelIds(record, at) ?? null }),
    ...readLocation(record, at),
    ServiceId: isUnnamed ? null : readMasterId(record, masterIdName, at),
    ProviderHotelId: readText(record, 'ProviderHotelId', at),
    ProviderName: readText(record, 'ProviderName', at),
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
  throw unexpected(pathOf(name, at), 'an integer from 1 to 2^53-1', fields[name]);
}

/** A location written as a number is converted to text. */
function readLocation(fields: Fields, at: string): { readonly ProviderLocationCode?: string } {
  const value = fields.ProviderLocationCode;
  if (typeof value === 'number' && Number.isSafeInteger(value))
    return { ProviderLocationCode: String(value) };
  readOptionalText(fields, 'ProviderLocationCode', at);
  return {};
}

/** An array of strings, or a single one; nulls in it are dropped. Undefined if absent. */
function readChannelIds(fields: Fields, at: string): readonly string[] | undefined {
  const value = fields.ChannelIds;
  if (!isPresent(value)) return undefined;
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) throw unexpected(pathOf('ChannelIds', at), 'an array', value);
  if (value.every((element) => typeof element === 'string')) return value;
  return value.filter(isPresent).map((element: unknown, index) => {
    if (typeof element === 'string') return element;
    throw unexpected(`${pathOf('ChannelIds', at)}[${index}]`, 'a string', element);
  });
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

export type LenientEnvelope = NonNullable<ReturnType<typeof readEnvelopeLeniently>>;

/**
 * What a JSON answer says about the call: the envelope of spec 2.1, or the `{code, message}` that gateways send; what is absent or
 * unreadable is undefined. The one way in which envelopes are read: `"StatusCode": "2000"` and `"Status": "true"`, written as text, mean the
 * same as the contract's number and boolean. Undefined when it is not a JSON object. Never throws.
 */
export function readEnvelopeLeniently(json: unknown) {
  if (!isObject(json)) return undefined;
  const { Status, StatusCode, code, Message, message } = json;
  return {
    status: toBoolean(Status),
    statusCode: toInteger(StatusCode) ?? toInteger(code),
    /** May name a guest. */
    message: readMessage(Message) ?? readMessage(message),
    /** Whether it has any of `Status`, `StatusCode` and `code`; without any of them an object is not an envelope. */
    isRecognised: [Status, StatusCode, code].some(isPresent),
  };
}

/** What an answer holds, if it has the envelope of a success (spec 2.1). @throws InvalidField */
export function readSuccess(json: unknown): Fields {
  const fields = isObject(json) ? json : {};
  const { status, statusCode } = readEnvelopeLeniently(fields) ?? {};
  if (status === undefined) throw unexpected('Status', 'a boolean', fields.Status);
  if (statusCode === undefined) throw unexpected('StatusCode', 'an integer', fields.StatusCode);
  return fields;
}

function toBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.trim().toLowerCase() : undefined;
  if (text === 'true') return true;
  return text === 'false' ? false : undefined;
}

function readMessage(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The members of a JSON object of the service, by its own names. */
export type Fields = Readonly<Record<string, unknown>>;

/** A field is missing or of another type. The message names it and never quotes its value. */
export class InvalidField extends Error {
  override readonly name = 'InvalidField';
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** The error for a field that is not what it should be. */
function unexpected(field: string, what: string, value: unknown): InvalidField {
  return new InvalidField(field, `expected ${field} to be ${what}, got: ${describe(value, what)}`);
}

/** @param at the object's path, here and below: `Mappings[3]`, or nothing for the answer itself */
function readText(fields: Fields, name: string, at = ''): string {
  const value = fields[name];
  if (typeof value !== 'string') throw unexpected(pathOf(name, at), 'a string', value);
  return value;
}

/** The specification does not say which fields are optional: most may be missing or null. */
function readOptionalText(fields: Fields, name: string, at = ''): string | null | undefined {
  return isPresent(fields[name]) ? readText(fields, name, at) : (fields[name] as null | undefined);
}

/** An integer that a JavaScript number holds exactly; one written as text counts as well. */
function readInteger(fields: Fields, name: string, at = ''): number {
  const value = toInteger(fields[name]);
  if (value === undefined) throw unexpected(pathOf(name, at), 'an integer', fields[name]);
  return value;
}

/** Undefined unless it is an integer that a JavaScript number holds exactly, as a number or as text. */
function toInteger(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\s*-?\d{1,16}\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

/** The elements of an array; none where it is null. */
function readArray(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (value === null) return [];
  if (!Array.isArray(value)) throw unexpected(name, 'an array', value);
  return value;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function pathOf(name: string, at: string): string {
  return at === '' ? name : `${at}.${name}`;
}

function describe(value: unknown, expected: string): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return expected.startsWith('an integer') ? 'another number' : 'a number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
