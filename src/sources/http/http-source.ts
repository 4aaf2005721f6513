import type { BusinessDay } from '../../booking/business-day.js';
import type { BookingSource, SourceColumns, SourceRecord } from '../../review/source.js';
import type { SourceParts } from '../common/kind.js';
import { toChunks } from '../common/record-chunks.js';
import { listElements } from '../json/json-text.js';
import { createMemberPicker, type MemberPicker } from '../json/member-picker.js';
import type { HttpSettings } from './kind.js';
import type { PageCallLimits } from './page-calls.js';
import { describePageWait } from './page-calls.js';
import { type HttpPagination, prepareRequests } from './pagination.js';
import { readPages } from './read-pages.js';
import type { RequestCredentials } from './request.js';

export interface HttpSourceOptions extends DayPagesOptions {
  /** The member of each field, where it is not the field's own name; `guest.name` is one in a nested object. */
  readonly columns?: SourceColumns;
  /** A record of more bytes is skipped and reported; 1 MB if not given. (Design 4.) */
  readonly recordLimit?: number;
}

/**
 * The day's bookings from an HTTP API that answers in JSON: GET, page by page, one page in memory at a time and none read
 * ahead. `place` is the record's number, counted from 1 over all pages. Values are as NDJSON's are; what is told of absent
 * columns comes behind the last record.
 *
 * What may pass (408, 425, 429, 5xx, a broken connection) is asked again by the retry policy. `read` throws a SourceError
 * for what doesn't: `missing` (404, 410), `binary`, `unreadable` for everything else: a refusal, a redirect, an answer
 * without the list of bookings, a next page on another host, pages that go in a circle. It holds nothing of an answer.
 *
 * @throws RangeError for an address, TypeError for a header that can't be used
 */
export function createHttpSource(options: HttpSourceOptions): BookingSource {
  const { columns = {}, recordLimit = 1_000_000 } = options;
  const { locate, read } = createDayPages(options);

  return {
    locate,
    placeUnit: 'record',
    measure: () => Promise.resolve(undefined),
    async *read(day, { signal }) {
      signal.throwIfAborted();
      const picker = createMemberPicker(columns);
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
      const notices = picker.absentColumns().map((column) => ({ kind: 'absent-column' as const, column }));
      if (notices.length > 0) yield { records: [], notices };
      signal.throwIfAborted();
    },
  };
}

function pickRecord(json: string, place: number, picker: MemberPicker, limit: number): SourceRecord {
  if (Buffer.byteLength(json) > limit) return { place, unreadable: 'record-too-long' };
  const picked = picker.pick(json);
  return typeof picked === 'string' ? { place, unreadable: picked } : { place, fields: picked };
}

function* mapped<Item, Result>(items: Iterable<Item>, map: (item: Item) => Result): Generator<Result, void> {
  for (const item of items) yield map(item);
}

export interface DayPagesOptions
  extends RequestCredentials,
    Omit<PageCallLimits, 'maxPageBytes'>,
    Partial<Pick<PageCallLimits, 'maxPageBytes'>> {
  /** With `{day}`, `{day:ddMMyyyy}`, `{dayStart}` and `{dayEnd}` where the day stands. */
  readonly url: string;
  /** Where the list of bookings stands in an answer: `data.bookings`; empty where it is the answer itself. */
  readonly records?: string | undefined;
  /** Without pages if not given. */
  readonly pagination?: HttpPagination | undefined;
}

/** The pages of a day, as the API gives them. */
export interface DayPages {
  /** For people: without the query, where keys like to stand. */
  locate(day: BusinessDay): string;
  /**
   * Each page's array of records as it is written, asked for when it is asked for here. Once the signal has aborted, or
   * the reader walks away, the connection is cut.
   *
   * @throws SourceError that holds nothing of an answer; the signal's reason when it aborts
   */
  read(day: BusinessDay, signal: AbortSignal): AsyncGenerator<string, void, undefined>;
}

const largestPage = 64 * 1024 * 1024;

/** @throws RangeError for an address, TypeError for a header that can't be used */
export function createDayPages(options: DayPagesOptions): DayPages {
  const { records: path = '', pagination = { kind: 'none' } } = options;
  const { urlOf, headers } = prepareRequests(options);
  const limits = { ...options, maxPageBytes: options.maxPageBytes ?? largestPage };

  const locate = (day: BusinessDay) => {
    const { origin, pathname } = urlOf(day);
    return `${origin}${pathname} for ${day.iso}`;
  };

  return {
    locate,
    read: (day, signal) =>
      readPages(urlOf(day), { path, pagination, headers, limits, place: locate(day), signal }),
  };
}

/** The configured settings as the pages take them. */
export function toPageOptions(
  source: HttpSettings,
  { retry, clock, random, voice }: SourceParts,
): DayPagesOptions {
  return {
    ...source,
    timeoutMs: source.timeoutSeconds * 1000,
    connectTimeoutMs: source.connectTimeoutSeconds * 1000,
    retry,
    clock,
    random,
    onWait(wait) {
      const notice = describePageWait(wait);
      if (notice !== undefined) voice.say(notice);
    },
  };
}
