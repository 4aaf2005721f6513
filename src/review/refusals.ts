/** Somebody alive works on that day. */
export class DayBusyError extends Error {
  override readonly name = 'DayBusyError';
}

/** What was asked for does not fit the state of the day, or the configuration. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
