import type { Config } from '../src/config/load.js';
import { createMappingService } from '../src/mapping-service/create-mapping-service.js';
import type { MappingService } from '../src/mapping-service/operations.js';
import { random } from './clock.js';
import { openRetryPolicy } from './retry-policy.js';

/** The client of all of the service's operations, with the configured retries. */
export function openMappingService(config: Config): MappingService {
  const { service, mappings } = config;
  return createMappingService({
    baseUrl: service.baseUrl,
    apiKey: service.apiKey,
    accountId: service.accountId,
    timeoutSeconds: service.timeoutSeconds,
    connectTimeoutSeconds: service.connectTimeoutSeconds,
    retry: openRetryPolicy(config),
    // A key that is not known any more is no fault that passes.
    statusCodes: {
      ...Object.fromEntries(mappings.resumeKeyCodes.map((code) => [code, 'refused' as const])),
      ...service.statusCodes,
    },
    masterIdName: service.masterIdName,
    clock: () => new Date(),
    random,
  });
}
