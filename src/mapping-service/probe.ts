import type { Verdict } from './mapping-service.js';
import { reviewPath } from './review-paths.js';
import { type MappingServiceOptions, prepareCalls } from './service-calls.js';

/** What the service made of a call that does nothing. */
export interface Probe {
  readonly verdict: Verdict;
  /** How far our clock is ahead of the service's, in milliseconds, to the second; absent where it told no time. */
  readonly aheadMs?: number;
}

const noHotels = Buffer.from('{"Hotels":[]}');

/**
 * Calls the service once, by its operation that reviews booked hotels (spec 4.2) and with none of them: nothing is
 * submitted for review. It never throws for what the service or the network does.
 *
 * @throws TypeError as the client does; the signal's reason when aborted
 */
export async function probeService(
  options: Omit<MappingServiceOptions, 'connections'>,
  { signal }: { readonly signal: AbortSignal },
): Promise<Probe> {
  const { root, headersOfBody, transport, judge } = prepareCalls({ ...options, connections: 1 });
  try {
    const exchange = await transport.call({
      method: 'POST',
      path: `${root}${reviewPath}`,
      headers: headersOfBody,
      body: noHotels,
      signal,
    });
    const now = options.clock().getTime();
    const date = exchange.kind === 'answered' ? exchange.answer.date : exchange.brokenAnswer?.date;
    const told = Date.parse(date ?? '');
    return { verdict: judge(exchange), ...(Number.isFinite(told) && { aheadMs: now - told }) };
  } finally {
    await transport.close();
  }
}
