import type { Operations } from '../../../src/desk/page.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { NewRun, Settlement } from '../../../src/rules/changes.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { csrfToken, now, startDesk } from '../some-desk.js';
import { fakeOperations } from './fake-operations.js';

/** A desk for an operator, over a ledger and operations that only record what is requested. */
export async function openOperatorsDesk(changes: Partial<Operations> = {}) {
  const ledger = await openTemporaryLedger(() => now);
  const { operations, asked } = fakeOperations(changes);
  const { url, recorded } = await startDesk({ ledger, role: 'operator', parts: { operations } });
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, {
      redirect: 'manual',
      ...init,
      headers: { accept: 'application/json' },
    });
    return { status: response.status, data: (await response.json()) as Record<string, unknown> };
  };
  return {
    ledger,
    asked,
    recorded,
    preview: (path: string) => ask(path),
    page: async (path: string) => (await fetch(url + path, { headers: { accept: 'text/html' } })).text(),
    send: (path: string, fields: Record<string, string> = {}) =>
      ask(path, { method: 'POST', body: new URLSearchParams({ token: csrfToken, ...fields }) }),
  };
}

/** A run of a day with that ending; without one, it is active. */
export async function addRun(
  ledger: Ledger,
  run: Partial<NewRun> & Pick<NewRun, 'day'>,
  ending?: Omit<Settlement, 'at'>,
) {
  const id = run.id ?? `run-of-${run.day}`;
  const { token } = await ledger.runs.create({
    ...{ id, delivery: 'body', trigger: 'schedule', startedAt: now - 3_600_000 },
    ...run,
  });
  if (ending) await ledger.runs.settle({ runId: id, token }, { ...ending, at: now });
  return id;
}
