const httpDate = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -](\d{2}|\d{4}) \d{2}:\d{2}:\d{2} GMT$/;

/**
 * The wait that a `Retry-After` header asks for, in milliseconds from `now`. Reads both forms of RFC 9110: whole
 * seconds and an HTTP date. Undefined when it asks for no wait (0, a moment in the past) or is unreadable: then the
 * ordinary back-off applies.
 */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const milliseconds = /^\d+$/.test(text)
    ? Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER)
    : httpDate.test(text)
      ? Date.parse(text) - now.getTime()
      : Number.NaN;
  return milliseconds > 0 ? milliseconds : undefined;
}

/** The time in a `Date` header; undefined when it holds none. */
export function readDate(header: string | undefined): Date | undefined {
  const milliseconds = Date.parse(header ?? '');
  return Number.isNaN(milliseconds) ? undefined : new Date(milliseconds);
}
