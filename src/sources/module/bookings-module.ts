/** The requested business day, as passed to a bookings module. */
export interface ModuleDay {
  /** YYYY-MM-DD */
  readonly iso: string;
  /** IANA name, for example Europe/Madrid. */
  readonly zone: string;
  /** The day's first instant. */
  readonly start: Date;
  /** The first instant after the day. */
  readonly end: Date;
}

/** Messages for the people who operate the nightly run. They must not hold guest names. */
export interface ModuleLog {
  info(message: string): void;
  warn(message: string): void;
}

export interface ModuleContext {
  /** Aborts when the run is stopped: pass it on to anything that takes long. */
  readonly signal: AbortSignal;
  readonly log: ModuleLog;
  /** `source.options` of the configuration. */
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * One booking, with the service's field names (`ServiceId`, `BookingReferenceId`, …) or those set in `source.columns`.
 * Values are strings, numbers or bigints; null and undefined mean missing. Dates are strings.
 */
export type BookingRecord = Readonly<Record<string, unknown>>;

/**
 * Yields the day's bookings, one by one or several at a time. The next item is requested only when there is capacity for
 * it. If it throws, the run fails before anything is sent.
 */
export type Bookings = (
  day: ModuleDay,
  context: ModuleContext,
) => AsyncIterable<BookingRecord | readonly BookingRecord[]>;

/** What the file in `source.path` exports if `source.kind` is `module`. */
export interface BookingsModule {
  readonly bookings: Bookings;
}
