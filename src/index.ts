/**
 * The library: the client of the mapping service, typed as its specification names things.
 *
 * @packageDocumentation
 */

export { defaultRetryPolicy, type RetryPolicy } from './base/retry.js';
export type { BookingSource } from './booking/source.js';
export {
  MappingServiceError,
  type ServiceErrorDetails,
  type ServiceErrorKind,
} from './service/errors.js';
export {
  type CreateMappingServiceOptions,
  createMappingService,
} from './service/mapping-service.js';
export type {
  BookedHotel,
  CallOptions,
  Channel,
  Envelope,
  ExportRequest,
  HotelBrand,
  HttpStatusMeaning,
  LastPage,
  MappingRecord,
  MappingService,
  MappingsPage,
  MappingsQuery,
  MasterHotelBrands,
  RawRequest,
  SkippedMapping,
  StartedExport,
  VerdictKind,
} from './service/operations.js';
export type {
  BookingRecord,
  Bookings,
  BookingsModule,
  ModuleContext,
  ModuleDay,
  ModuleLog,
} from './sources/module/bookings-module.js';
