import { onTestFinished } from 'vitest';
import { MappingServiceError } from '../../src/service/errors.js';
import { type CreateMappingServiceOptions, createMappingService } from '../../src/service/mapping-service.js';
import type { MappingService } from '../../src/service/operations.js';
import {
  type RecordedRequest,
  type StandIn,
  type StandInHandler,
  startStandIn,
} from '../support/http-stand-in.js';

/** Retries immediately, so that faults don't slow the tests. */
export const atOnce = { baseMs: 0, capMs: 0, retryAfterCapMs: 0 };

export interface OpenedService {
  readonly service: MappingService;
  readonly standIn: StandIn;
}

/** The typed operations against a stand-in; both are closed when the test ends. */
export async function openService(
  handler?: StandInHandler,
  options: Partial<CreateMappingServiceOptions> = {},
): Promise<OpenedService> {
  const standIn = await startStandIn(handler);
  onTestFinished(() => standIn.close());
  return { standIn, service: serviceAt(standIn.baseUrl, options) };
}

export function serviceAt(
  baseUrl: string,
  options: Partial<CreateMappingServiceOptions> = {},
): MappingService {
  const { retry, ...others } = options;
  const service = createMappingService({
    baseUrl,
    apiKey: 'k-7f3a',
    accountId: 'acme',
    retry: { ...atOnce, ...retry },
    ...others,
  });
  onTestFinished(() => service.close());
  return service;
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
