import type { Config } from '../src/config/load.js';
import { toServiceAccess } from '../src/config/resolve.js';
import { createServiceClient, type ServiceClient } from '../src/mapping-service/client.js';
import { createMappingService } from '../src/mapping-service/mapping-service.js';
import type { MappingService } from '../src/mapping-service/operations.js';
import { resumeKeyCodes } from '../src/mappings/sync-refusals.js';
import { random } from './clock.js';
import { openRetryPolicy } from './retry-policy.js';

const connectTimeoutMs = 10_000;

/** The client for reviews, with the configured limits; it never retries, because the step runner does. */
export function openReviewService(config: Config): ServiceClient {
  const { service, body, file } = config;
  return createServiceClient({
    ...toServiceAccess(config),
    otherSecrets: file.sftp?.password === undefined ? [] : [file.sftp.password],
    connections: body.concurrency,
    timeoutMs: (body.timeoutSeconds ?? service.timeoutSeconds) * 1000,
    connectTimeoutMs,
    clock: () => new Date(),
  });
}

/** The service's typed operations, with the configured retries. */
export function openMappingService(config: Config): MappingService {
  const { service } = config;
  return createMappingService({
    ...toServiceAccess(config),
    timeoutSeconds: service.timeoutSeconds,
    retry: openRetryPolicy(config),
    // A resume key that the service no longer knows is not a transient fault.
    statusCodes: {
      ...Object.fromEntries(resumeKeyCodes.map((code) => [code, 'refused' as const])),
      ...service.statusCodes,
    },
    masterIdName: service.masterIdName,
    clock: () => new Date(),
    random,
  });
}
