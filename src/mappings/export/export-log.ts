import type { MappingService } from '../../mapping-service/operations.js';

/** What was asked for and fetched of the service's exports. (Spec 4.5.) Instants are epoch milliseconds. */
export interface ExportLog {
  rememberRequest(request: RequestedExport): Promise<void>;
  latestRequest(): Promise<RequestedExport | undefined>;
  /** Remembers an export that lies in the archive; the same one again changes nothing. */
  rememberFetched(fetched: FetchedExport): Promise<void>;
  latestFetched(): Promise<FetchedExport | undefined>;
}

export interface RequestedExport {
  readonly requestedAt: number;
  /** By the service's clock, where it told. */
  readonly serviceTime?: number;
  /** All of them where it is empty. */
  readonly providers: readonly string[];
}

export interface FetchedExport {
  /** The part that the names of its files share, `guid` in the specification. */
  readonly id: string;
  readonly fetchedAt: number;
  /** Those of the request it is taken for; all of them where it is empty. */
  readonly providers: readonly string[];
  readonly files: readonly FetchedFile[];
}

export type ExportFileKind = 'mappings' | 'transformed' | 'hotels';

export interface FetchedFile {
  readonly kind: ExportFileKind;
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface RequestParts {
  readonly service: Pick<MappingService, 'exportMappingsFile'>;
  readonly log: Pick<ExportLog, 'rememberRequest'>;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/**
 * Asks the service for an export, and remembers when and of which providers; not to whom it is sent.
 *
 * @throws MappingServiceError when the service does not take it; the signal's reason
 */
export async function requestExport(
  { emailId, providers }: { readonly emailId: string; readonly providers: readonly string[] },
  { service, log, clock }: RequestParts,
  signal: AbortSignal,
): Promise<RequestedExport> {
  const requestedAt = clock();
  const { answeredAt } = await service.exportMappingsFile(
    { emailId, ...(providers.length > 0 && { providerfamilies: providers }) },
    { signal },
  );
  const requested = {
    requestedAt,
    // The service had looked at some time between our question and its answer.
    ...(answeredAt && { serviceTime: answeredAt.getTime() - (clock() - requestedAt) }),
    providers,
  };
  await log.rememberRequest(requested);
  return requested;
}
