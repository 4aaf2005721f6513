import { onTestFinished, vi } from 'vitest';
import type { Settings } from './day-folder.js';
import { startStandIn } from './http-stand-in.js';
import { patienceMs } from './patience.js';

/**
 * A source that gives the first records of a day at once and holds back the rest, so that collecting can't end before the
 * test wants it to, on a machine of any speed.
 */
export interface HeldSource {
  readonly settings: Settings;
  serve(records: readonly object[]): void;
  /** Waits until this many requests for the rest wait: what came before is collected. */
  isAskedForRest(requests?: number): Promise<void>;
  /** Answers the oldest request for the rest; without a number, every one, including those still to come. */
  giveRest(requests?: number): void;
}

/** @param after how many records are given at once: more than one transaction stores, if some are to be stored */
export async function startHeldSource({ after }: { readonly after: number }): Promise<HeldSource> {
  const held: (() => void)[] = [];
  let records: readonly object[] = [];
  let isOpen = false;
  const pages = () => [records.slice(0, after), records.slice(after)];
  const api = await startStandIn(async ({ url }) => {
    const page = Number(new URL(url, 'http://127.0.0.1').searchParams.get('page'));
    if (page === 2 && !isOpen) await new Promise<void>((resolve) => held.push(resolve));
    return { kind: 'json', body: pages()[page - 1] ?? [] };
  });
  onTestFinished(() => api.close());
  return {
    settings: {
      kind: 'http',
      url: `${api.baseUrl}/bookings?day={day}`,
      // That of the file that a day has otherwise.
      path: undefined,
      pagination: { kind: 'page', parameter: 'page' },
      timeoutSeconds: 600,
    },
    serve(given) {
      records = given;
    },
    async isAskedForRest(requests = 1) {
      await vi.waitUntil(() => held.length >= requests, { timeout: patienceMs, interval: 5 });
    },
    giveRest(requests = Number.POSITIVE_INFINITY) {
      isOpen ||= requests === Number.POSITIVE_INFINITY;
      for (const give of held.splice(0, requests)) give();
    },
  };
}
