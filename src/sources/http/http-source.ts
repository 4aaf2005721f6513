import { type BusinessDay, createBusinessDay } from '../../booking/business-day.js';
import { listElements } from '../json-elements.js';
import { createMemberPicker, type MemberPicker } from '../member-picker.js';
import { toChunks } from '../record-chunks.js';
import type { BookingSource, SourceColumns, SourceRecord } from '../source.js';
import type { PageCallLimits } from './page-calls.js';
import { createPaging, type HttpPagination } from './pagination.js';
import { readPages } from './read-pages.js';
import { type RequestCredentials, writeRequestHeaders } from './request-headers.js';
import { parseUrlTemplate } from './url-template.js';

export interface HttpSourceOptions
  extends RequestCredentials,
    Omit<PageCallLimits, 'maxPageBytes'>,
    Partial<Pick<PageCallLimits, 'maxPageBytes'>> {
  /** With `{day}`, `{day:ddMMyyyy}`, `{dayStart}` and `{dayEnd}` where the day stands. */
  readonly url: string;
  /** Where the list of bookings stands in an answer: `data.bookings`; empty where it is the answer itself. */
  readonly records?: string | undefined;
  /** Without pages if not given. */
  readonly pagination?: HttpPagination | undefined;
  /** The member of each field, where it is not the field's own name; `guest.name` is one in a nested object. */
  readonly columns?: SourceColumns;
  /** A record of more bytes is skipped and reported; 1 MB if not given. (Design 4.) */
  readonly recordLimit?: number;
}

const anyDay = createBusinessDay('2000-01-01', 'UTC');
const largestPage = 64 * 1024 * 1024;

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
  const {
    records: path = '',
    pagination = { kind: 'none' },
    columns = {},
    recordLimit = 1_000_000,
  } = options;
  const { urlOf, headers } = prepareHttpSource(options);
  const limits = { ...options, maxPageBytes: options.maxPageBytes ?? largestPage };
  const reading = { path, pagination, headers, limits };

  /** Without the query, where keys like to stand. */
  const locate = (day: BusinessDay) => {
    const { origin, pathname } = urlOf(day);
    return `${origin}${pathname} for ${day.iso}`;
  };

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
      for await (const page of readPages(urlOf(day), { ...reading, place: locate(day), signal })) {
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

/**
 * What an HTTP source is made of, checked together: also by who only wants to know whether it can be used.
 *
 * @throws RangeError for an address, TypeError for a header that can't be used
 */
export function prepareHttpSource(
  options: Pick<HttpSourceOptions, 'url' | 'pagination'> & RequestCredentials,
) {
  const urlOf = parseUrlTemplate(options.url);
  createPaging(options.pagination ?? { kind: 'none' }, urlOf(anyDay));
  return { urlOf, headers: writeRequestHeaders(options) };
}

function pickRecord(json: string, place: number, picker: MemberPicker, limit: number): SourceRecord {
  if (Buffer.byteLength(json) > limit) return { place, unreadable: 'record-too-long' };
  const picked = picker.pick(json);
  return typeof picked === 'string' ? { place, unreadable: picked } : { place, fields: picked };
}

function* mapped<Item, Result>(items: Iterable<Item>, map: (item: Item) => Result): Generator<Result, void> {
  for (const item of items) yield map(item);
}
