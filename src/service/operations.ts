import type { ServiceField } from '../booking/booking.js';

/**
 * The operations of the service, typed as its specification names them: fields that begin with a capital letter are the
 * service's own, exact and case-sensitive. Any other field of an answer passes through.
 */
export interface MappingService {
  /** One page of GET /mappings (spec 4.1). Retried: it changes nothing. */
  getMappings(query: MappingsQuery, options?: CallOptions): Promise<MappingsPage>;
  /**
   * All pages of GET /mappings, one at a time. The option `lastPage` says which page is the last; pages with nothing
   * new end it with an error.
   */
  eachMappingsPage(query: MappingsQuery, options?: CallOptions): AsyncIterable<MappingsPage>;
  /** POST /hotels/ReviewMappingsOfBookedHotels (spec 4.2). Retried: a review is safe to repeat. */
  reviewBookedHotels(hotels: readonly BookedHotel[], options?: CallOptions): Promise<Envelope>;
  /**
   * GET /hotels/ReviewMappingsOfBookedHotelsByFile (spec 4.3). Each call starts a review: retried only where the service
   * cannot have processed it, which a 5xx leaves open.
   *
   * @param ftpFilePath the file's path on the SFTP server: `VerifyMappings/112026/20112026.csv`
   */
  reviewBookedHotelsByFile(ftpFilePath: string, options?: CallOptions): Promise<Envelope>;
  /** GET /content/GetMasterHotelBrands (spec 4.4): the complete list. */
  getMasterHotelBrands(options?: CallOptions): Promise<MasterHotelBrands>;
  /**
   * GET /mappings/ExportMappingsFile (spec 4.5). Each call starts an export: retried only where the service cannot have
   * processed it, which a 5xx leaves open.
   */
  exportMappingsFile(request: ExportRequest, options?: CallOptions): Promise<StartedExport>;
  /** For operations that the specification knows by name only (4.6): authenticated, retried, judged by the envelope. */
  call(request: RawRequest, options?: CallOptions): Promise<Envelope>;
  /** Cuts every connection. Idempotent. */
  close(): Promise<void>;
}

/** What a call's result means for the caller. (Design 6.) */
export type VerdictKind = 'accepted' | 'retryable' | 'fatal' | 'refused';

/**
 * What an HTTP status other than success means: `not-done` and `unknown` are tried again, the latter only where a
 * second call does no harm or its effect was checked first.
 */
export type HttpStatusMeaning = 'not-done' | 'unknown' | 'fatal' | 'refused';

export interface CallOptions {
  /** When it aborts, the call rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** Present on every success (spec 2.1). */
export interface Envelope {
  readonly Status: boolean;
  readonly Message?: string | null;
  readonly StatusCode: number;
  readonly [name: string]: unknown;
}

/** The parameters of Get Mappings (spec 4.1). */
export interface MappingsQuery {
  /** Lower bound of the changes. */
  readonly lastUpdateDateTime: Date;
  /** The same for all calls of a sync cycle. */
  readonly syncId: string;
  readonly providerFamily?: string;
  readonly resumeKey?: string;
  readonly limit?: number;
}

/** The answer of Get Mappings (spec 2.3). */
export interface MappingsPage extends Envelope {
  /** Absent, null or blank if there is no further page. */
  readonly ResumeKey?: string | null;
  /** Those that could be read. */
  readonly Mappings: readonly MappingRecord[];
  /** Those that could not, few enough for the page to be of use: the option `maxSkippedShare`. */
  readonly skipped: readonly SkippedMapping[];
  /** The answer's header `Date`: the service's clock. */
  readonly answeredAt: Date | undefined;
}

/** An element of `Mappings` that could not be read. */
export interface SkippedMapping {
  /** Its index in the service's list, from 0. */
  readonly index: number;
  /** The first field that is missing or of another type, such as `Mappings[3].ServiceId`. */
  readonly field: string;
  /** Says what was expected; quotes no value. */
  readonly reason: string;
  /** As received. */
  readonly record: unknown;
}

/**
 * When the pages of mappings end: at a page without a ResumeKey (`null-key`), at a page without mappings (`empty-page`),
 * or at whichever comes first (`either`). The specification doesn't say.
 */
export type LastPage = 'null-key' | 'empty-page' | 'either';

/** A mapping (spec 2.2). */
export interface MappingRecord {
  /** Null only for a deleted mapping whose master hotel the service does not name. */
  readonly ServiceId: number | null;
  readonly ProviderHotelId: string;
  readonly ProviderName: string;
  readonly ProviderLocationCode?: string | null;
  /** The kind of change; the specification shows `New`. */
  readonly Type?: string | null;
  readonly ChannelIds?: readonly string[] | null;
  /** The elements of `ChannelIds`, each split at its first comma. */
  readonly channels: readonly Channel[];
  readonly [name: string]: unknown;
}

export interface Channel {
  readonly channel: string;
  /** Absent where there is no comma. */
  readonly ratePlanType?: string;
  /** As received. */
  readonly original: string;
}

/** A booked property (spec 2.5). Dates are YYYY-MM-DD. */
export interface BookedHotel extends Readonly<Partial<Record<Exclude<ServiceField, 'ServiceId'>, string>>> {
  readonly ServiceId: number;
}

/** The answer of Get Master Hotel Brands (spec 4.4). */
export interface MasterHotelBrands extends Envelope {
  readonly HotelBrands: readonly HotelBrand[];
}

/** A master hotel brand (spec 2.4). */
export interface HotelBrand {
  readonly Id: number;
  readonly BrandCode?: string | null;
  readonly BrandName?: string | null;
  readonly ChainId?: number | null;
  readonly [name: string]: unknown;
}

/** The parameters of Export Mappings File (spec 4.5). */
export interface ExportRequest {
  /** An e-mail address. */
  readonly emailId: string;
  /** Provider names; default: all. */
  readonly providerfamilies?: readonly string[];
}

/** The answer of Export Mappings File (spec 4.5). */
export interface StartedExport extends Envelope {
  /** The answer's header `Date`: the service's clock. */
  readonly answeredAt: Date | undefined;
}

export interface RawRequest {
  readonly method: 'GET' | 'POST';
  /** Below the base address: `/content/GetMasterHotelBrands`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Whether it may be made twice. Only then is it repeated when its outcome is unknown, as after a 5xx. Default: false. */
  readonly isRepeatable?: boolean;
}
