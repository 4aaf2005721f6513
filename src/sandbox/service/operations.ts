import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { isCalendarDay, readInstant } from '../../booking/business-day.js';
import { Refusal } from '../common/errors.js';
import type { Operation } from '../common/faults.js';
import { type TextField, type TextProperty, textFields } from '../common/fields.js';
import { countOf } from '../common/tell.js';
import { acceptExport } from '../export/exports.js';
import { createFileReview } from '../file-review/file-review.js';
import type { BookedHotel } from '../outbox/outbox.js';
import type { SandboxParts } from '../parts/parts.js';
import { channelIdsOf, isCorrectlyMapped, locationCodeOf, type Mapping, type World } from '../world/world.js';

/** The outcome of a call that had no effect. */
export const noOutcome: Readonly<Record<Operation, string>> = {
  'by-body': '0 bookings accepted',
  'by-file': '0 bookings accepted',
  mappings: '0 mappings sent',
  brands: '0 brands sent',
  export: 'export refused',
};

export interface PerformedCall {
  readonly message: string;
  /** Precedes the envelope's fields. */
  readonly content?: object;
  /** In a few words, without guests' names, keys and addresses. */
  readonly outcome: string;
  /** How many bookings of a body were accepted, and those to send an e-mail about; those of a file are known with its result. */
  readonly reviewed?: number;
  readonly incorrect?: readonly BookedHotel[];
  /** To be called when the call has ended, answered or not. */
  readonly end?: () => void;
}

/** Undefined when the client left before its body was complete. @throws Refusal */
type Perform = (
  request: IncomingMessage,
  parameters: URLSearchParams,
) => PerformedCall | undefined | Promise<PerformedCall | undefined>;

/** A page takes a moment, so that parallel calls can be noticed. */
const pageMs = 2;

export function createOperations(parts: SandboxParts): { readonly [Name in Operation]: Perform } {
  const { world, maxLimit } = parts;
  const pages = createMappingPages(world, maxLimit);
  const reviewFile = createFileReview(parts);
  const syncing = new Set<string>();

  return {
    /** Accepts the bookings of a body and verifies each. (Spec 4.2.) */
    async 'by-body'(request) {
      const problem = findMediaProblem(request.headers);
      if (problem !== undefined) throw new Refusal(2002, problem, 415);
      const body = await readBody(request);
      if (body === undefined) return undefined;
      if (body === 'too-large')
        throw new Refusal(
          2002,
          `The body is longer than ${maxBodyBytes} bytes: send the bookings in several calls.`,
          413,
        );
      const hotels = parseReview(body);
      const incorrect = hotels.filter((hotel) => !isCorrectlyMapped(hotel, world));
      return {
        message: 'The hotels were accepted for review.',
        outcome: `${countOf(hotels.length, 'booking')} accepted${incorrect.length > 0 ? `, ${incorrect.length} wrongly mapped` : ''}`,
        reviewed: hotels.length,
        incorrect,
      };
    },

    /** Accepts an uploaded file for review; incorrect mappings are reported with its result. (Spec 4.3.) */
    async 'by-file'(_, parameters) {
      const bookings = await reviewFile(parameters.get('ftpFilePath') ?? undefined);
      return {
        message: 'The file was accepted for review.',
        outcome: `${countOf(bookings, 'booking')} accepted`,
      };
    },

    /** Gives a page of changed mappings, to one call of a sync cycle at a time. (Spec 4.1.) */
    async mappings({ headers }, parameters) {
      const query = pages.readQuery(headers, parameters);
      if (syncing.has(query.syncId))
        throw new Refusal(2030, 'Another call of this syncId is in progress: send one call at a time.');
      syncing.add(query.syncId);
      const end = () => void syncing.delete(query.syncId);
      try {
        await delay(pageMs);
        const content = pages.readPage(query);
        const { Mappings, ResumeKey } = content;
        return {
          ...{ message: 'The mappings are given.', content, end },
          outcome: `${countOf(Mappings.length, 'mapping')} sent${ResumeKey === null ? ', the last page' : ''}`,
        };
      } catch (error) {
        end();
        throw error;
      }
    },

    /** Gives the complete list of brands. (Spec 4.4.) */
    brands() {
      const HotelBrands = world.brands.map(({ chainName: _, ...brand }) => brand);
      return {
        ...{ message: 'The master hotel brands are given.', content: { HotelBrands } },
        outcome: `${countOf(HotelBrands.length, 'brand')} sent`,
      };
    },

    /** Accepts an export; the files follow. (Spec 4.5.) */
    export(_, parameters) {
      acceptExport(parameters, parts);
      return { message: 'The mappings are being exported.', outcome: 'export accepted' };
    },
  };
}

/** Limit for a body. (Assumed: the specification gives none.) */
export const maxBodyBytes = 64 * 1024 * 1024;

/**
 * Reads a request's body. What exceeds the limit is read and discarded, so that the client goes on to read the answer.
 *
 * @returns undefined when the client left before the body was complete
 */
function readBody(request: IncomingMessage): Promise<Buffer | 'too-large' | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let length = 0;
    request.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= maxBodyBytes) {
        parts.push(part);
        return;
      }
      parts.length = 0;
      resolve('too-large');
    });
    request.once('end', () => resolve(Buffer.concat(parts)));
    request.once('close', () => resolve(undefined));
  });
}

const json = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/** Why the headers rule a body out; undefined for plain JSON in UTF-8. */
function findMediaProblem(headers: IncomingHttpHeaders): string | undefined {
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = headers;
  if (type === undefined) return 'The header Content-Type is missing: expected application/json.';
  if (!json.test(type)) return 'The Content-Type is not application/json.';
  if (encoding.toLowerCase() !== 'identity') return 'A body with a Content-Encoding is not supported.';
  return undefined;
}

const fieldsByName: ReadonlyMap<string, TextField> = new Map(textFields.map((field) => [field.name, field]));
const known = ['ServiceId', ...fieldsByName.keys()].join(', ');
const maxQuotedName = 60;

/**
 * Parses the body of a review (spec 4.2) strictly: the first fault refuses everything. Messages say where the fault is and
 * never quote a value: one may be a guest's name.
 *
 * @throws Refusal
 */
function parseReview(body: Uint8Array): readonly BookedHotel[] {
  const review = parseJson(body);
  if (review === undefined) throw new Refusal(2002, 'The body is not JSON in UTF-8.');
  if (!isObject(review)) throw new Refusal(2002, 'The body: expected an object with the one field Hotels.');
  const unknown = Object.keys(review).find((name) => name !== 'Hotels');
  if (unknown !== undefined)
    throw new Refusal(2002, `${quoteName(unknown)} is not a field of the body: expected only Hotels.`);
  const { Hotels: items } = review;
  if (items === undefined) throw new Refusal(2021, 'Hotels is missing: expected an array of booked hotels.');
  if (!Array.isArray(items)) throw new Refusal(2002, 'Hotels: expected an array.');
  if (items.length === 0) throw new Refusal(2021, 'Hotels is empty: expected at least one booked hotel.');
  return items.map((item, index) => readHotel(item, `Hotels[${index}]`));
}

function readHotel(item: unknown, place: string): BookedHotel {
  if (!isObject(item)) throw new Refusal(2009, `${place}: expected an object.`);
  const { ServiceId: serviceId, ...others } = item;
  const texts: { [property in TextProperty]?: string } = {};
  for (const [name, value] of Object.entries(others)) {
    const field = fieldsByName.get(name);
    if (field === undefined)
      throw new Refusal(2009, `${place} has an unknown field ${quoteName(name)}: expected only ${known}.`);
    if (typeof value !== 'string' || value.trim() === '')
      throw new Refusal(2009, `${place}.${name}: expected a text that is not blank, or no such field.`);
    if (field.kind === 'date' && !isCalendarDay(value))
      throw new Refusal(2009, `${place}.${name}: expected a calendar day as YYYY-MM-DD.`);
    texts[field.property] = value;
  }
  if (!Number.isSafeInteger(serviceId) || (serviceId as number) < 1)
    throw new Refusal(2009, `${place}.ServiceId: expected a JSON integer from 1 to 9007199254740991.`);
  return { serviceId: serviceId as number, ...texts };
}

/** Returns undefined for invalid JSON, because the parser's error would quote it. */
function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function quoteName(name: string): string {
  return JSON.stringify(name.slice(0, maxQuotedName));
}

/** The parameters of Get Mappings. (Spec 4.1.) */
interface MappingsQuery {
  readonly syncId: string;
  /** The lower bound of changes, in epoch milliseconds. */
  readonly since: number;
  readonly providerFamily: string | undefined;
  readonly resumeKey: string | undefined;
  readonly limit: number;
}

/** The position of a retrieval: its first query, and the place of the next row in the world's history. It holds no rows. */
type Cursor = MappingsQuery & { readonly from: number };

/** As observed in a live deployment. */
const defaultLimit = 10;
const maxSyncIdLength = 200;

/**
 * Reads the pages of Get Mappings (spec 4.1): each mapping that changed since the lower bound, once, with its latest change. A
 * resume key can be reused and always gives the same page.
 *
 * @param maxLimit the most mappings that a page may have
 * @throws Refusal
 */
function createMappingPages(world: World, maxLimit: number) {
  /** They do not expire: no sandbox runs for fourteen days. */
  const cursors = new Map<string, Cursor>();

  function issueKey(cursor: Cursor): string {
    const key = randomUUID();
    cursors.set(key, cursor);
    return key;
  }

  function findCursor(query: MappingsQuery): Cursor {
    const { syncId, since, providerFamily, resumeKey } = query;
    if (resumeKey === undefined) {
      const place = world.history.findIndex(({ changedAt }) => changedAt >= since);
      return { ...query, from: place === -1 ? world.history.length : place };
    }
    const cursor = cursors.get(resumeKey.toLowerCase());
    if (!cursor) throw new Refusal(2006, 'resumeKey: there is no such key; start again without one.');
    if (cursor.syncId !== syncId)
      throw new Refusal(2006, 'resumeKey: the key belongs to the calls of another syncId.');
    if (cursor.since !== since || cursor.providerFamily !== providerFamily)
      throw new Refusal(
        2006,
        'resumeKey: the key belongs to another lastUpdateDateTime or providerFamily; repeat those of the first page.',
      );
    return cursor;
  }

  function render(mapping: Mapping, since: number): object {
    const hotel = world.hotelOf(mapping.serviceId);
    return {
      ServiceId: mapping.serviceId,
      ProviderHotelId: mapping.providerHotelId,
      ProviderName: mapping.providerName,
      ProviderLocationCode: hotel ? locationCodeOf(mapping, hotel) : null,
      Type: typeOf(mapping, since),
      ChannelIds: channelIdsOf(mapping),
    };
  }

  return {
    readQuery: (headers: IncomingHttpHeaders, parameters: URLSearchParams) =>
      readMappingsQuery(headers, parameters, world.providers, maxLimit),
    /** As it is answered (spec 2.3); without a resume key on the last page. */
    readPage(query: MappingsQuery) {
      const cursor = findCursor(query);
      const Mappings: object[] = [];
      for (let place = cursor.from; place < world.history.length; place += 1) {
        const mapping = world.history[place] as Mapping;
        if (query.providerFamily !== undefined && mapping.providerName !== query.providerFamily) continue;
        if (Mappings.length === query.limit)
          return { ResumeKey: issueKey({ ...cursor, from: place }), Mappings };
        Mappings.push(render(mapping, cursor.since));
      }
      return { ResumeKey: null, Mappings };
    },
  };
}

/** What happened to a mapping since the lower bound. */
function typeOf({ isDeleted, createdAt }: Mapping, since: number): 'New' | 'Update' | 'Delete' {
  if (isDeleted) return 'Delete';
  return createdAt >= since ? 'New' : 'Update';
}

/** Reads the header and the parameters; the first fault refuses the call. A blank parameter counts as not given. */
function readMappingsQuery(
  { syncid: syncId }: IncomingHttpHeaders,
  parameters: URLSearchParams,
  providers: readonly string[],
  maxLimit: number,
): MappingsQuery {
  if (typeof syncId !== 'string' || syncId.trim() === '')
    throw new Refusal(2016, 'The header syncId is missing: all calls of a sync cycle share one.');
  if (syncId.length > maxSyncIdLength)
    throw new Refusal(2016, `The header syncId: expected at most ${maxSyncIdLength} characters.`);

  const written = read(parameters, 'lastUpdateDateTime');
  if (written === undefined)
    throw new Refusal(2017, 'lastUpdateDateTime is missing: expected an ISO 8601 date-time in UTC.');
  const since = readUtcInstant(written);
  if (since === undefined)
    throw new Refusal(
      2007,
      'lastUpdateDateTime: expected an ISO 8601 date-time in UTC such as 2026-11-20T00:00:00Z (a plus sign is written %2B).',
    );

  const limitText = read(parameters, 'limit') ?? String(defaultLimit);
  const limit = /^\d{1,9}$/.test(limitText) ? Number(limitText) : 0;
  if (limit < 1 || limit > maxLimit)
    throw new Refusal(2012, `limit: expected an integer from 1 to ${maxLimit}.`);

  const providerFamily = read(parameters, 'providerFamily');
  if (providerFamily !== undefined && !providers.includes(providerFamily))
    throw new Refusal(2011, `providerFamily: expected one of ${providers.join(', ')}, in exact case.`);
  return { syncId, since, providerFamily, resumeKey: read(parameters, 'resumeKey'), limit };
}

const utcInstant = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9}))?(?:Z|\+00:00)$/;

/** Epoch milliseconds, rounded down so that no change at the bound is missed. */
function readUtcInstant(text: string): number | undefined {
  const [, day, time, fraction = ''] = utcInstant.exec(text) ?? [];
  if (day === undefined || time === undefined) return undefined;
  const instant = readInstant(`${day}T${time.padEnd(8, ':00')}.${fraction.slice(0, 3).padEnd(3, '0')}Z`);
  return Number.isNaN(instant) ? undefined : instant;
}

function read(parameters: URLSearchParams, name: string): string | undefined {
  const value = parameters.get(name);
  return value === null || value.trim() === '' ? undefined : value;
}
