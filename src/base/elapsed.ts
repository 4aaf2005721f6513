/**
 * Whether that much time has passed since something was last done, or it never was. A clock that was set back by as much counts, too:
 * otherwise what is due every minute would not be done for a day.
 *
 * @param now epoch milliseconds, like `since`
 */
export function hasPassed(ms: number, { since, now }: { since: number | undefined; now: number }): boolean {
  return since === undefined || Math.abs(now - since) >= ms;
}
