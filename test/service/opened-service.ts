import { onTestFinished } from 'vitest';
import { defaultRetryPolicy, type RetryPolicy } from '../../src/base/retry.js';
import { defaultStatusCodes } from '../../src/service/call-result.js';
import { MappingServiceError } from '../../src/service/errors.js';
import { createMappingService, type MappingServiceOptions } from '../../src/service/mapping-service.js';
import type { CallOptions, ExportRequest, MappingsQuery } from '../../src/service/operations.js';
import {
  type RecordedRequest,
  type StandIn,
  type StandInHandler,
  startStandIn,
} from '../support/http-stand-in.js';

type TestedOptions = Partial<Omit<MappingServiceOptions, 'retry'>> & {
  readonly retry?: Partial<RetryPolicy>;
};

/** The operations, which nobody aborts unless a test says so. */
export type TestedService = ReturnType<typeof serviceAt>;

export interface OpenedService {
  readonly service: TestedService;
  readonly standIn: StandIn;
}

/** The operations against a stand-in; both are closed when the test ends. */
export async function openService(
  handler?: StandInHandler,
  options: TestedOptions = {},
): Promise<OpenedService> {
  const standIn = await startStandIn(handler);
  onTestFinished(() => standIn.close());
  return { standIn, service: serviceAt(standIn.baseUrl, options) };
}

const never: CallOptions = { signal: new AbortController().signal };

/** Retries immediately, so that faults don't slow the tests. */
export function serviceAt(baseUrl: string, { retry, ...others }: TestedOptions = {}) {
  const service = createMappingService({
    ...{ baseUrl, apiKey: 'k-7f3a', accountId: 'acme', timeoutSeconds: 30, masterIdName: 'ServiceId' },
    ...{ statusCodes: defaultStatusCodes, proxy: undefined, clock: () => new Date(), random: Math.random },
    retry: { ...defaultRetryPolicy, baseMs: 0, capMs: 0, retryAfterCapMs: 0, ...retry },
    ...others,
  });
  onTestFinished(() => service.close());
  return {
    getMappings: (query: Omit<MappingsQuery, 'limit'> & { readonly limit?: number }, options = never) =>
      service.getMappings({ limit: 10, ...query }, options),
    getMasterHotelBrands: (options = never) => service.getMasterHotelBrands(options),
    exportMappingsFile: (request: ExportRequest, options = never) =>
      service.exportMappingsFile(request, options),
    close: () => service.close(),
  };
}

/** A success with additional fields. */
export function answerWith(fields: object) {
  return { kind: 'json', body: { Status: true, Message: 'Success', StatusCode: 2000, ...fields } } as const;
}

/** `name: value`, in the order and spelling received. */
export function headersOf(request: RecordedRequest | undefined): string[] {
  const headers = request?.rawHeaders ?? [];
  return headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []));
}

/** The MappingServiceError that a call rejects with. @throws when it succeeds, and any other error */
export async function errorOf(call: Promise<unknown>): Promise<MappingServiceError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof MappingServiceError) return error;
    throw error;
  }
  throw new Error('expected the call to fail, got: a success');
}
