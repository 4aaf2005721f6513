import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import { type HeldClaims, holdClaims } from '../../../src/review/perform/step-runner.js';
import type { Claim } from '../../../src/rules/step.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { createGate } from '../../support/gate.js';
import { prepareDelivery } from '../delivering.js';
import { useNightTime } from '../night-time.js';
import { ok } from '../scripted-service.js';
import { openTemporaryLedger } from '../temporary-ledger.js';
import { unstopped } from '../working-day.js';

/** The ledger's default lease. */
const leaseMs = 30_000;

useNightTime();

describe('claims that are held', () => {
  it('stay valid while the work continues, and no longer', async () => {
    const { ledger, right, claim } = await prepareClaims();
    const claims = holdClaims(ledger, leaseMs);
    const work = createGate();
    const held = claims.whileHeld(await claim(0), unstopped, () => work.passed);
    await vi.advanceTimersByTimeAsync(10 * leaseMs);
    expect(await ledger.steps.isBeingPerformed(right.runId)).toBe(true);
    expect(await ledger.steps.reopenAbandoned(right.runId)).toBe(0);
    work.open();
    await held;
    await vi.advanceTimersByTimeAsync(leaseMs + 1);
    expect(await ledger.steps.reopenAbandoned(right.runId)).toBe(1);
    claims.close();
  });

  it('abort the work on lost claims, and no other work', async () => {
    const { ledger, right, claim } = await prepareClaims();
    const claims = holdClaims(ledger, leaseMs);
    // The process is frozen: time passes, and no timer fires.
    const frozen = holdWithoutEnd(claims, await claim(0));
    vi.setSystemTime(Date.now() + leaseMs + 1);
    const other = holdWithoutEnd(claims, await claim(1));
    expect(await ledger.steps.reopenAbandoned(right.runId)).toBe(1);
    await vi.advanceTimersByTimeAsync(leaseMs);
    expect(frozen()?.reason).toBeInstanceOf(FencedError);
    expect(other()?.aborted).toBe(false);
    claims.close();
  });

  it('let the caller stop the work, also before it begins', async () => {
    const { ledger, claim } = await prepareClaims();
    const claims = holdClaims(ledger, leaseMs);
    const stop = new AbortController();
    const before = holdWithoutEnd(claims, await claim(0), stop.signal);
    stop.abort(new Error('stopped'));
    const after = holdWithoutEnd(claims, await claim(1), stop.signal);
    for (const given of [before, after]) expect(given()?.reason).toEqual(new Error('stopped'));
    claims.close();
  });

  it('leave no listener on the signal of a long-lived process', async () => {
    const { ledger, claim } = await prepareClaims();
    const claims = holdClaims(ledger, leaseMs);
    const stop = new AbortController();
    // Work may leave a listener on the signal that it was given.
    const work = async (signal: AbortSignal) => signal.addEventListener('abort', () => {}, { once: true });
    await claims.whileHeld(await claim(0), stop.signal, work);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
    claims.close();
  });

  it('survive a ledger that is unavailable for less than a lease', async () => {
    const { ledger, right, claim } = await prepareClaims();
    const away = { now: false };
    const claims = holdClaims(
      withReplaced(ledger, {
        steps: {
          renewClaims: (held) =>
            away.now ? Promise.reject(new Error('away')) : ledger.steps.renewClaims(held),
        },
      }),
      leaseMs,
    );
    const held = holdWithoutEnd(claims, await claim(0));
    away.now = true;
    await vi.advanceTimersByTimeAsync(leaseMs * 0.6);
    away.now = false;
    await vi.advanceTimersByTimeAsync(leaseMs);
    expect(held()?.aborted).toBe(false);
    expect(await ledger.steps.reopenAbandoned(right.runId)).toBe(0);
    claims.close();
  });
});

async function prepareClaims() {
  const ledger = await openTemporaryLedger(Date.now);
  const { right } = await prepareDelivery({ ledger, bookings: 4, batchSize: 1, answer: () => ok });
  return {
    ledger,
    right,
    async claim(batch: number): Promise<Claim> {
      const claim = await ledger.steps.claim(right, `batch ${batch}`, 1, Date.now());
      if (!claim) throw new Error(`batch ${batch} was not there to be claimed`);
      return claim;
    },
  };
}

/** Work that never ends. @returns the signal that it was given */
function holdWithoutEnd(claims: HeldClaims, claim: Claim, stop = unstopped) {
  let given: AbortSignal | undefined;
  void claims.whileHeld(claim, stop, (signal) => {
    given = signal;
    return new Promise(() => {});
  });
  return () => given;
}
