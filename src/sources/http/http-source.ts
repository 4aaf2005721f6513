import type { BookingSource, SourceColumns, SourceRecord } from '../../review/source.js';
import { toChunks } from '../common/record-chunks.js';
import { listElements } from '../json/json-text.js';
import { createMemberPicker, type MemberPicker } from '../json/member-picker.js';
import { createDayPages, type DayPagesOptions } from './day-pages.js';

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
