/**
 * Framework-neutral checks of a source of bookings, for your own tests, and a way to open a bookings module as the command
 * does.
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
