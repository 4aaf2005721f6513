import { type BusinessDay, createBusinessDay, isDayPattern } from '../../booking/business-day.js';

/** Returns the path for a day. */
export type PathTemplate = (day: BusinessDay) => string;

/** What a formatted day may have between two slashes. A dot at either end could lead to another folder. */
const namePart = /^[\p{L}\p{M}\p{N} _,'-]+(?:\.[\p{L}\p{M}\p{N} _,'-]+)*$/u;
const anyDay = createBusinessDay('2000-01-01', 'UTC');

/** Text outside braces, a pair of braces, or an unmatched brace. */
const templatePart = /\{([^{}]*)\}|[^{}]+|[{}]/g;

/**
 * Parses a path in which `{day}` stands for the day as YYYY-MM-DD and `{day:PATTERN}` for the day in a date-fns
 * pattern, for example `{day:ddMMyyyy}` or `{day:yyyy/MM}`.
 *
 * A pattern may quote literal text, but can't lead to another folder (`..`), host or bucket.
 *
 * @throws RangeError for an unknown placeholder, an unmatched brace, or a pattern that date-fns rejects or that produces
 *   anything but letters, digits, spaces, - _ , ' and, inside, dots and slashes
 */
export function parsePathTemplate(template: string): PathTemplate {
  const parts = Array.from(template.matchAll(templatePart), ([part, placeholder]) =>
    placeholder === undefined ? readText(part, template) : readPlaceholder(placeholder, template),
  );
  return (day) => parts.map((write) => write(day)).join('');
}

/** Whether a path names a different file for each day. @throws RangeError as `parsePathTemplate` does */
export function dependsOnDay(template: string): boolean {
  const write = parsePathTemplate(template);
  return write(anyDay) !== write(anyDay.next());
}

function readText(text: string, template: string): PathTemplate {
  if (text === '{' || text === '}') {
    throw new RangeError(`the path ${JSON.stringify(template)} has an unmatched brace`);
  }
  return () => text;
}

function readPlaceholder(placeholder: string, template: string): PathTemplate {
  if (placeholder === 'day') return (day) => day.iso;
  if (!placeholder.startsWith('day:')) {
    throw new RangeError(
      `the path ${JSON.stringify(template)} has {${placeholder}}: only {day} and {day:ddMMyyyy} (any date-fns pattern) are known`,
    );
  }
  const pattern = placeholder.slice('day:'.length);
  if (!isDayPattern(pattern)) {
    throw new RangeError(
      `the path ${JSON.stringify(template)} has {${placeholder}}: ${JSON.stringify(pattern)} is not a date-fns pattern of a day (such as ddMMyyyy)`,
    );
  }
  if (
    !anyDay
      .format(pattern)
      .split('/')
      .every((part) => namePart.test(part))
  ) {
    throw new RangeError(
      `the path ${JSON.stringify(template)} has {${placeholder}}: a day may be written with letters, digits, spaces and - _ , ' and, except at its ends, with / and dots: nothing that leads elsewhere`,
    );
  }
  return (day) => day.format(pattern);
}
