/**
 * The operations of the service beside the review, typed as its specification names things: fields that begin with a capital letter
 * are the service's own, exact and case-sensitive. Any other field of a mapping or brand passes through. Calls reject with a
 * MappingServiceError, and with the signal's reason when aborted.
 */
export interface MappingService {
  /** One page of GET /mappings (spec 4.1). Retried: it changes nothing. */
  getMappings(query: MappingsQuery, options: CallOptions): Promise<MappingsPage>;
  /** GET /content/GetMasterHotelBrands (spec 4.4): the complete list. */
  getMasterHotelBrands(options: CallOptions): Promise<readonly HotelBrand[]>;
  /**
   * GET /mappings/ExportMappingsFile (spec 4.5). Each call starts an export: retried only where the service cannot have
   * processed it, which a 5xx leaves open. Returns the answer's header `Date`: the service's clock.
   */
  exportMappingsFile(request: ExportRequest, options: CallOptions): Promise<Pick<MappingsPage, 'answeredAt'>>;
  /** Cuts every connection. Idempotent. */
  close(): Promise<void>;
}

export interface CallOptions {
  /** When it aborts, the call rejects with its reason. */
  readonly signal: AbortSignal;
}

/** The parameters of Get Mappings (spec 4.1). */
export interface MappingsQuery {
  /** Lower bound of the changes. */
  readonly lastUpdateDateTime: Date;
  /** The same for all calls of a sync cycle. */
  readonly syncId: string;
  readonly providerFamily?: string | undefined;
  readonly resumeKey?: string | undefined;
  readonly limit: number;
}

/** The answer of Get Mappings (spec 2.3). */
export interface MappingsPage {
  /** Absent, null or blank if there is no further page. */
  readonly ResumeKey?: string | null;
  /** Those that could be read. */
  readonly Mappings: readonly MappingRecord[];
  /** Those that could not, few enough for the page to be of use. */
  readonly skipped: readonly SkippedMapping[];
  /** The answer's header `Date`: the service's clock. */
  readonly answeredAt: Date | undefined;
}

/** An element of `Mappings` that could not be read. */
export interface SkippedMapping {
  /** Says what was expected; quotes no value. */
  readonly reason: string;
  /** As received. */
  readonly record: unknown;
}

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
  readonly [name: string]: unknown;
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
  /** Provider names, without commas; none for all. */
  readonly providers: readonly string[];
}
