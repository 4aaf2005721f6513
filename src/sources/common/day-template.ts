import { type BusinessDay, createBusinessDay, isDayPattern } from '../../booking/business-day.js';

/** Writes a text for a day. */
export type DayTemplate = (day: BusinessDay) => string;

/** To try what a template writes. */
export const anyDay = createBusinessDay('2000-01-01', 'UTC');

/** Text outside braces, a pair of braces, or an unmatched brace. */
const templatePart = /\{([^{}]*)\}|[^{}]+|[{}]/g;

/**
 * Parses a text with placeholders in braces.
 *
 * @param readPlaceholder is given what stands in the braces
 * @throws RangeError for an unmatched brace; what `readPlaceholder` throws
 */
export function parseTemplate(
  template: string,
  readPlaceholder: (placeholder: string) => DayTemplate,
): DayTemplate {
  const parts = Array.from(template.matchAll(templatePart), ([text, placeholder]): DayTemplate => {
    if (placeholder !== undefined) return readPlaceholder(placeholder);
    if (text === '{' || text === '}') throw new RangeError('has an unmatched brace');
    return () => text;
  });
  return (day) => parts.map((write) => write(day)).join('');
}

/**
 * What `day` stands for, YYYY-MM-DD, or `day:PATTERN`, a date-fns pattern; with `day+1` it is the next day. Undefined for anything
 * else.
 */
export function readDayPlaceholder(placeholder: string): DayTemplate | undefined {
  const found = /^day(\+1)?(?::(.*))?$/s.exec(placeholder);
  const [, next, pattern = 'yyyy-MM-dd'] = found ?? [];
  if (found === null || !isDayPattern(pattern)) return undefined;
  return (day) => (next === undefined ? day : day.next()).format(pattern);
}

/** A business day as sources query it: `start` is its first instant, `end` the first instant after it. */
export function readDayBounds({ firstInstant, lastInstant }: BusinessDay) {
  return { start: firstInstant, end: new Date(lastInstant.getTime() + 1) };
}
