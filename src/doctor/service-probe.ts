import type { Config } from '../config/load.js';
import { type Probe, probeService } from '../mapping-service/client.js';

/** The longest that the service is waited for. */
export const longestProbeSeconds = 10;

/** Several checks want to know what the service says: it is called once, by the first that asks. */
export function createServiceProbe(
  { baseUrl, apiKey, accountId, statusCodes, timeoutSeconds, connectTimeoutSeconds }: Config['service'],
  clock: () => number,
): (signal: AbortSignal) => Promise<Probe> {
  let probing: Promise<Probe> | undefined;
  return (signal) => {
    probing ??= probeService(
      {
        baseUrl,
        apiKey,
        accountId,
        statusCodes,
        timeoutMs: Math.min(timeoutSeconds, longestProbeSeconds) * 1000,
        connectTimeoutMs: Math.min(connectTimeoutSeconds, longestProbeSeconds) * 1000,
        clock: () => new Date(clock()),
      },
      { signal },
    );
    return probing;
  };
}
