import type { MappingService } from '../../mapping-service/operations.js';
import type { ExportLog, RequestedExport } from './export-log.js';

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
