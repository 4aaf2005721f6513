/** The business day that is asked for, as a bookings module is given it. */
export interface ModuleDay {
  /** YYYY-MM-DD */
  readonly iso: string;
  /** IANA name, for example Europe/Madrid. */
  readonly zone: string;
  /** The day's first instant. */
  readonly start: Date;
  /** The first instant behind the day. */
  readonly end: Date;
}

/** Words for whoever looks after the nightly run. No guest's name belongs there. */
export interface ModuleLog {
  info(message: string): void;
  warn(message: string): void;
}

export interface ModuleContext {
  /** Aborts when the run is stopped: pass it on to whatever takes its time. */
  readonly signal: AbortSignal;
  readonly log: ModuleLog;
  /** `source.options` of the configuration. */
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * One booking under the service's names (`ServiceId`, `BookingReferenceId`, …) or under those that `source.columns` names.
 * Values are texts, numbers and bigints; null and undefined are missing. Dates are texts.
 */
export type BookingRecord = Readonly<Record<string, unknown>>;

/**
 * Yields the day's bookings, one by one or several at a time. It is asked for the next only when there is room for it, and
 * what it throws fails the run before anything is sent.
 */
export type Bookings = (
  day: ModuleDay,
  context: ModuleContext,
) => AsyncIterable<BookingRecord | readonly BookingRecord[]>;

/** What a file named by `source.path` exports where `source.kind` is `module`. */
export interface BookingsModule {
  readonly bookings: Bookings;
}
