import { afterEach, describe, expect, it } from 'vitest';
import type { HookRuns } from '../../src/desk/server/hook.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { openRun, openTemporaryLedger } from '../review/temporary-ledger.js';
import { hookSecret as secret } from '../support/hook-secrets.js';
import { ask } from './hook-calls.js';
import { now, startServer, stopServers } from './some-server.js';

afterEach(stopServers);

/** Creates a run for a day that has none, as the product does, without working on it. */
function createLedgerRuns(ledger: Ledger): HookRuns {
  return {
    findFirstDay: async () => '2026-11-01',
    async findRun(requestId) {
      const runId = await ledger.runs.findOfHook(requestId);
      return runId === undefined ? undefined : { runId, day: (await ledger.runs.get(runId)).day };
    },
    async start({ iso }, requestId) {
      const latest = await ledger.runs.latest(iso);
      const runId = latest?.id ?? (await openRun(ledger, iso)).runId;
      if (requestId !== undefined) await ledger.runs.rememberHook({ id: requestId, runId, at: now });
      return { runId, day: iso };
    },
  };
}

async function startOverLedger(ledger: Ledger) {
  const hook = { secret, runs: createLedgerRuns(ledger) };
  return startServer({ hook, ledger, checks: { ledger: () => ledger.ping() } });
}

describe('over a real ledger', () => {
  it('a run exists once the hook has answered, and a request is remembered after a restart', async () => {
    const ledger = await openTemporaryLedger(() => now);
    const { url, server } = await startOverLedger(ledger);
    const first = await ask(url, { day: '2026-11-20' });
    expect(first.status).toBe(202);
    expect((await ledger.runs.latest('2026-11-20'))?.id).toBe(first.body.runId);
    await server.close();
    const { url: later } = await startOverLedger(ledger);
    expect(await ask(later, { day: '2026-11-20' })).toMatchObject({ status: 200, body: first.body });
    expect(await ledger.runs.list({ limit: 10 })).toHaveLength(1);
  });

  it('readiness and metrics are read from it', async () => {
    const ledger = await openTemporaryLedger(() => now);
    await openRun(ledger, '2026-11-20');
    const { url } = await startOverLedger(ledger);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('hotel_review_runs{state="collecting"} 1');
    expect(metrics).toContain('hotel_review_ledger_up 1');
  });
});
