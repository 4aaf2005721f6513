import type { BusinessDay } from '../../booking/business-day.js';
import type { BookingSource, SourceRecord } from '../../booking/source.js';
import type { WantedColumns } from '../common/columns.js';
import { recordsInChunk } from '../common/member-picker.js';
import { createJsonPicker } from '../json/json-text.js';
import type { HttpPagination } from './kind.js';
import { readAddress } from './pagination.js';
import { type PageCalls, readPages } from './read-pages.js';
import { writeRequestHeaders } from './request.js';

export interface HttpSourceOptions extends PageCalls, WantedColumns {
  /** With `{day}`, `{day:ddMMyyyy}`, `{dayStart}` and `{dayEnd}` as placeholders for the day. */
  readonly url: string;
  /** By name. All of them are secret. They override the default headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Where a response holds the list of bookings, such as `data.bookings`; empty if the response is that list. */
  readonly records?: string | undefined;
  /** No pages by default. */
  readonly pagination?: HttpPagination | undefined;
  readonly maxPageBytes?: number;
  /** A day with more pages is an error; 10,000 by default. */
  readonly maxPages?: number;
  /** A record with more bytes is skipped and reported; 1 MB by default. (Design 4.) */
  readonly recordLimit?: number;
}

/** Some 50,000 bookings. JSON may take thirty times its size in memory, and nothing else happens while it is parsed. */
const largestPage = 16_000_000;
/** Without pages, the answer is the whole day. */
const largestDay = 64_000_000;

/**
 * Reads the day's bookings from a JSON API over HTTP: GET, page by page, one page in memory at a time, without reading
 * ahead. `place` is the record's number, counted from 1 over all pages. Values are read as in NDJSON. Notices about absent
 * extra columns follow the last record; a member for a field that no record has is a SourceError `missing-member`.
 *
 * Temporary failures (408, 425, 429, 5xx, a broken connection) are retried by the retry policy. For all others `read`
 * throws a SourceError: `missing` (404, 410), `binary`, or `unreadable` for anything else: a rejection, a redirect, a
 * response without the list of bookings, a next page on another host, pages that form a loop. It quotes no response.
 *
 * @throws RangeError for an invalid address
 */
export function createHttpSource(options: HttpSourceOptions): BookingSource {
  const { records: path = '', pagination = { kind: 'none' }, maxPages = 10_000 } = options;
  const { maxPageBytes = pagination.kind === 'none' ? largestDay : largestPage } = options;
  const { recordLimit = 1_000_000 } = options;
  const urlOf = readAddress(options);
  const headers = writeRequestHeaders(options.headers);

  /** Without the query, which often holds keys. */
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
      const picker = createJsonPicker(options);
      const reading = { ...options, path, pagination, headers, maxPageBytes, maxPages, signal };
      let place = 0;
      const readRecord = (json: string): SourceRecord => {
        place += 1;
        if (Buffer.byteLength(json) > recordLimit) return { place, unreadable: 'record-too-long' };
        return picker.pick(place, json);
      };
      for await (const page of readPages(urlOf(day), { ...reading, location: locate(day) })) {
        for (let at = 0; at < page.length; at += recordsInChunk) {
          yield { records: page.slice(at, at + recordsInChunk).map(readRecord) };
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
