import type { ServiceField } from '../../booking/booking.js';
import type { Examination } from '../../examination/examine-day.js';
import type { Finding } from '../../examination/finding.js';
import type { Secrets } from '../answers/secrets.js';
import type { SourceAnswers } from '../answers/source-answers.js';

/** A source as it was answered so far. */
export interface AnsweredSource {
  readonly timezone: string;
  readonly source: SourceAnswers;
  readonly secrets: Secrets;
  /** The day that is looked at, YYYY-MM-DD; undefined for that of the newest file, or yesterday. */
  readonly day: string | undefined;
}

/** Tries a source while its configuration is still being written. Each takes a bounded time. */
export interface SourceTrials {
  /** Looks which columns there are, and how dates are written. */
  examine(answered: AnsweredSource, columns?: ReadonlyMap<ServiceField, string>): Promise<Examination>;
  /** Reads a few bookings as the configuration with these answers would: as doctor tells of them. */
  read(answered: AnsweredSource, examination: Examination): Promise<readonly Finding[]>;
}
