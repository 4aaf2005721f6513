/**
 * The types of a bookings module (`source.kind: module`).
 *
 * @packageDocumentation
 */

export type {
  BookingRecord,
  Bookings,
  BookingsModule,
  ModuleContext,
  ModuleDay,
  ModuleLog,
} from './sources/module/bookings-module.js';
