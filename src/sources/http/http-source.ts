import type { BusinessDay } from '../../booking/business-day.js';
import type { BookingSource, SourceColumns, SourceRecord } from '../../booking/source.js';
import type { SourceParts } from '../common/kind.js';
import { toChunks } from '../common/record-chunks.js';
import { createMemberPicker, listElements, type MemberPicker } from '../json/json-text.js';
import type { HttpSettings } from './kind.js';
import { type HttpPagination, prepareRequests } from './pagination.js';
import { describePageWait, type PageCallLimits, readPages } from './read-pages.js';
import type { RequestCredentials } from './request.js';

export interface HttpSourceOptions extends DayPagesOptions {
  /** The member for each field, if it is not named like the field; `guest.name` is a member of a nested object. */
  readonly columns?: SourceColumns;
  /** Further members, whose values every record has as `filterValues`. */
  readonly filterColumns?: readonly string[];
  /** Members that are kept with the booking, and may be absent: every record has their values as `extraValues`. */
  readonly extraColumns?: readonly string[];
  /** A record with more bytes is skipped and reported; 1 MB by default. (Design 4.) */
  readonly recordLimit?: number;
}

/**
 * Reads the day's bookings from a JSON API over HTTP: GET, page by page, one page in memory at a time, without reading
 * ahead. `place` is the record's number, counted from 1 over all pages. Values are read as in NDJSON. Notices about absent
 * extra columns follow the last record; a member for a field that no record has is a SourceError `missing-member`.
 *
 * Temporary failures (408, 425, 429, 5xx, a broken connection) are retried by the retry policy. For all others `read`
 * throws a SourceError: `missing` (404, 410), `binary`, or `unreadable` for anything else: a rejection, a redirect, a
 * response without the list of bookings, a next page on another host, pages that form a loop. It quotes no response.
 *
 * @throws RangeError for an invalid address, TypeError for an invalid header
 */
export function createHttpSource(options: HttpSourceOptions): BookingSource {
  const { columns = {}, filterColumns, extraColumns, recordLimit = 1_000_000 } = options;
  const { locate, read } = createDayPages(options);

  return {
    locate,
    placeUnit: 'record',
    measure: () => Promise.resolve(undefined),
    async *read(day, { signal }) {
      signal.throwIfAborted();
      const picker = createMemberPicker(columns, { filterColumns, extraColumns });
      let place = 0;
      const readRecord = (json: string): SourceRecord => {
        place += 1;
        return pickRecord(json, place, picker, recordLimit);
      };
      for await (const page of read(day, signal)) {
        for (const chunk of toChunks(mapped(listElements(page), readRecord))) {
          yield chunk;
          signal.throwIfAborted();
        }
      }
      signal.throwIfAborted();
      const notices = picker.findAbsent();
      if (notices.length > 0) yield { records: [], notices };
      signal.throwIfAborted();
      picker.requireFields(locate(day));
    },
  };
}

function pickRecord(json: string, place: number, picker: MemberPicker, limit: number): SourceRecord {
  if (Buffer.byteLength(json) > limit) return { place, unreadable: 'record-too-long' };
  return picker.pick(place, json);
}

function* mapped<Item, Result>(items: Iterable<Item>, map: (item: Item) => Result): Generator<Result, void> {
  for (const item of items) yield map(item);
}

interface DayPagesOptions
  extends RequestCredentials,
    Omit<PageCallLimits, 'maxPageBytes'>,
    Partial<Pick<PageCallLimits, 'maxPageBytes'>> {
  /** With `{day}`, `{day:ddMMyyyy}`, `{dayStart}` and `{dayEnd}` as placeholders for the day. */
  readonly url: string;
  /** Where a response holds the list of bookings, such as `data.bookings`; empty if the response is that list. */
  readonly records?: string | undefined;
  /** No pages by default. */
  readonly pagination?: HttpPagination | undefined;
  /** A day with more pages is an error; 10,000 by default. */
  readonly maxPages?: number | undefined;
}

/** The pages of a day, as the API returns them. */
interface DayPages {
  /** For people: without the query, which often holds keys. */
  locate(day: BusinessDay): string;
  /**
   * Requests pages on demand and yields each page's array of records as written. The connection is cut when the signal
   * aborts or the reader stops.
   *
   * @throws SourceError that quotes no response; the signal's reason when it aborts
   */
  read(day: BusinessDay, signal: AbortSignal): AsyncGenerator<string, void, undefined>;
}

/** Some 50,000 bookings. JSON may take thirty times its size in memory, and nothing else happens while it is parsed. */
const largestPage = 16_000_000;
/** Without pages, the answer is the whole day. */
const largestDay = 64_000_000;
const connectTimeoutMs = 10_000;

/** @throws RangeError for an invalid address, TypeError for an invalid header */
export function createDayPages(options: DayPagesOptions): DayPages {
  const { records: path = '', pagination = { kind: 'none' }, maxPages = 10_000 } = options;
  const { urlOf, headers } = prepareRequests(options);
  const largest = pagination.kind === 'none' ? largestDay : largestPage;
  const limits = { ...options, maxPageBytes: options.maxPageBytes ?? largest };

  const locate = (day: BusinessDay) => {
    const { origin, pathname } = urlOf(day);
    return `${origin}${pathname} for ${day.iso}`;
  };

  return {
    locate,
    read: (day, signal) =>
      readPages(urlOf(day), { path, pagination, headers, limits, maxPages, location: locate(day), signal }),
  };
}

/** Converts the settings to options for `createDayPages`. */
export function toPageOptions(
  source: HttpSettings,
  { retry, clock, random, proxy, peerClock, sourceMessages }: SourceParts,
): DayPagesOptions {
  return {
    ...source,
    timeoutMs: source.timeoutSeconds * 1000,
    connectTimeoutMs,
    retry,
    clock,
    random,
    proxy,
    peerClock,
    onWait(wait) {
      const notice = describePageWait(wait);
      if (notice !== undefined) sourceMessages.say(notice);
    },
  };
}
