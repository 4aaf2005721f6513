import { InvalidArgumentError } from 'commander';

const instant = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Epoch milliseconds from 1970 on. A day is its beginning in UTC; a time of the day says its zone. */
export function readInstant(text: string): number {
  const read = instant.test(text) ? Date.parse(text) : Number.NaN;
  if (!(read >= 0))
    throw new InvalidArgumentError(
      `expected an instant from 1970 on, such as 2026-11-20 or 2026-11-20T12:00:00Z, got: ${text}`,
    );
  return read;
}
