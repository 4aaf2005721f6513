import {
  type BusinessDay,
  businessDayAt,
  createBusinessDay,
  isCalendarDay,
} from '../booking/business-day.js';
import { HttpError } from './http-error.js';

export interface DayRequest {
  readonly body: Uint8Array;
  /** The header `content-type`. */
  readonly contentType: string | undefined;
  /** Epoch milliseconds */
  readonly at: number;
  /** The zone in which days are counted. */
  readonly zone: string;
}

/** With any parameter, such as a charset. */
const jsonType = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * The day that a request of the hook is about: `{"day":"YYYY-MM-DD"}`. Without a body or without that member it is
 * yesterday, as for `run`; other members say nothing here.
 *
 * @throws HttpError 400, 415, or 422 for a day that has not begun; none quotes the body
 */
export function readDay({ body, contentType, at, zone }: DayRequest): BusinessDay {
  const today = businessDayAt(new Date(at), zone);
  if (body.length === 0) return today.previous();
  if (!jsonType.test(contentType ?? '')) {
    throw new HttpError(415, 'the body is to be JSON: send the header content-type: application/json');
  }
  const content = parseObject(body);
  if (!Object.hasOwn(content, 'day')) return today.previous();
  const { day } = content;
  if (typeof day !== 'string' || !isCalendarDay(day)) {
    throw new HttpError(400, 'day is to be a calendar date written YYYY-MM-DD');
  }
  if (day > today.iso) {
    throw new HttpError(422, `${day} has not begun: in ${zone} it is ${today.iso}`);
  }
  return createBusinessDay(day, zone);
}

function parseObject(body: Uint8Array): Record<string, unknown> {
  let content: unknown;
  try {
    content = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    // The parser's own words quote what they choke on.
    throw new HttpError(400, 'the body is not JSON in UTF-8');
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new HttpError(400, 'the body is to be a JSON object such as {"day":"2026-11-20"}');
  }
  return content as Record<string, unknown>;
}
