import { type BusinessDay, createBusinessDay } from '../../booking/business-day.js';
import type { PageCallLimits } from './page-calls.js';
import { createPaging, type HttpPagination } from './pagination.js';
import { readPages } from './read-pages.js';
import { parseUrlTemplate, type RequestCredentials, writeRequestHeaders } from './request.js';

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

const anyDay = createBusinessDay('2000-01-01', 'UTC');
const largestPage = 64 * 1024 * 1024;

/** @throws RangeError for an address, TypeError for a header that can't be used */
export function createDayPages(options: DayPagesOptions): DayPages {
  const { records: path = '', pagination = { kind: 'none' } } = options;
  const { urlOf, headers } = prepareHttpSource(options);
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

/**
 * What an HTTP source is made of, checked together: also by who only wants to know whether it can be used.
 *
 * @throws RangeError for an address, TypeError for a header that can't be used
 */
export function prepareHttpSource(options: Pick<DayPagesOptions, 'url' | 'pagination'> & RequestCredentials) {
  const urlOf = parseUrlTemplate(options.url);
  createPaging(options.pagination ?? { kind: 'none' }, urlOf(anyDay));
  return { urlOf, headers: writeRequestHeaders(options) };
}
