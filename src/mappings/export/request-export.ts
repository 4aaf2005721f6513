import type { Ledger } from '../../ledger/ledger.js';
import type { RequestedExport } from '../../ledger/mappings.js';
import type { MappingService } from '../../service/operations.js';

interface RequestParts {
  readonly service: Pick<MappingService, 'exportMappingsFile'>;
  readonly log: Ledger['exports'];
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/**
 * Requests an export from the service and records when and for which providers, but not its recipient.
 *
 * @throws MappingServiceError when the service does not accept the request; the signal's reason
 */
export async function requestExport(
  { emailId, providers }: { readonly emailId: string; readonly providers: readonly string[] },
  { service, log, clock }: RequestParts,
  signal: AbortSignal,
): Promise<RequestedExport> {
  const requestedAt = clock();
  const { answeredAt } = await service.exportMappingsFile({ emailId, providers }, { signal });
  const requested = {
    requestedAt,
    // The service read its data at some time between our request and its answer.
    ...(answeredAt && { serviceTime: answeredAt.getTime() - (clock() - requestedAt) }),
    providers,
  };
  await log.rememberRequest(requested);
  return requested;
}
