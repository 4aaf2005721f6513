import { describe, expect, it } from 'vitest';
import type { OpenWork } from '../../../src/ledger/steps.js';
import { decidePending, describePending, type PendingLimits } from '../../../src/review/day/pending.js';
import type { Run } from '../../../src/rules/run.js';
import { someRun } from '../some-run.js';

const at = Date.parse('2026-11-21T02:40:00Z');
const limits: PendingLimits = {
  retry: { tries: 6, baseMs: 1_000, capMs: 60_000 },
  resultTimeoutMs: 6 * 3_600_000,
};
const nothing: OpenWork = { performed: 0, abandoned: 0, ready: 0, delayed: 0 };
const time = (instant: number) => new Date(instant).toISOString().slice('2026-11-21T'.length, -5);

function explain(run: Partial<Run>, work?: Partial<OpenWork>): string | undefined {
  const pending = decidePending(
    someRun(run as Parameters<typeof someRun>[0]),
    work && { ...nothing, ...work },
    limits,
  );
  return pending && describePending(pending, time);
}

const batch = { step: 'batch 12', kind: 'batch', code: 'http-503', endedAt: at, waits: 0 } as const;

describe('why a run is not done', () => {
  it.each<[string, Partial<Run>, Partial<OpenWork> | undefined, string | undefined]>([
    [
      'what is being performed',
      { state: 'delivering' },
      { performed: 1, oldest: { step: 'upload', kind: 'upload', since: at } },
      'is being worked on: the file is being uploaded since 02:40:00',
    ],
    [
      'a wait that the service asked for, with the tries that are left',
      { state: 'delivering' },
      { delayed: 1, ready: 40, next: { ...batch, until: at + 60_400, tries: 2, waits: 1 } },
      'waits until 02:41:00: the service asked for 60 s (batch 12: http-503); then comes attempt 3 of 6; 40 other steps are open',
    ],
    [
      'a wait of our own, though the service asked for another one before',
      { state: 'delivering' },
      { delayed: 1, next: { ...batch, until: at + 1_500, tries: 2, waits: 1 } },
      'waits until 02:40:01: batch 12 ended with http-503; then comes attempt 3 of 6',
    ],
    [
      'the result, and when it is looked for',
      { state: 'awaiting-result', openSteps: 1, file: { triggeredAt: at - 3_600_000 } },
      {
        delayed: 1,
        next: {
          step: 'await-result',
          kind: 'await-result',
          code: 'result-absent',
          until: at + 90_000,
          tries: 0,
          waits: 9,
        },
      },
      'waits for its result until 07:40:00; looks for it again at 02:41:30 (result-absent)',
    ],
    [
      'a result that did not come',
      { state: 'awaiting-result', overdueAt: at, file: { triggeredAt: at - 7 * 3_600_000 } },
      undefined,
      'waits for its result, which did not arrive by 01:40:00: ask the service for it, then look for it again',
    ],
    [
      'a process that is gone',
      { state: 'delivering' },
      { abandoned: 2, ready: 7, oldest: { step: 'batch 3', kind: 'batch', since: at } },
      'waits to be resumed: the process that performed batch 3 is gone',
    ],
    [
      'a worker',
      { state: 'delivering' },
      { ready: 1 },
      'waits for a worker: 1 step can be performed, and no process performs one',
    ],
    [
      'why it stopped',
      { state: 'failed', failure: { class: 'fatal', code: 'http-403', message: 'check apiKey' } },
      undefined,
      'stopped because of this: check apiKey',
    ],
  ])('is %s', (_, run, work, words) => {
    expect(explain(run, work)).toBe(words);
  });

  it('never promises more tries than there are', () => {
    const words = explain(
      { state: 'delivering' },
      { delayed: 1, next: { ...batch, until: at + 9, tries: 6 } },
    );
    expect(words).toContain('attempt 6 of 6');
  });
});
