/**
 * What a source of bookings is asked, for the tests of your own: framework-neutral checks, and how a bookings module is
 * opened as the command opens it.
 *
 * @packageDocumentation
 */
export { type BusinessDay, createBusinessDay } from '../booking/business-day.js';
export { type BookingSource, type SourceChunk, SourceError, type SourceRecord } from '../review/source.js';
export { createModuleSource, type ModuleSourceOptions } from '../sources/module/module-source.js';
export type { ReadingSubject } from './reading-checks.js';
export { checkBookingSource, listReadingChecks, listSourceChecks } from './source-checks.js';
export type {
  DayOfRecords,
  IntendedRecord,
  PreparedSource,
  SourceCheck,
  SourceDriver,
} from './source-driver.js';
