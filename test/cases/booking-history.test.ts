import { describe, expect, it } from 'vitest';
import { formatInstant } from '../../src/base/format.js';
import { describeVerdict, subjectOf, toHistory } from '../../src/cases/booking-history.js';
import type { Trace } from '../../src/ledger/tracing.js';
import type { StepState } from '../../src/rules/step.js';
import { someRun } from '../review/some-run.js';

type BookingTrace = Extract<Trace, { kind: 'booking' }>;

const at = Date.parse('2026-11-21T02:30:05Z');
const attempt = {
  step: 'batch 3',
  attempt: 1,
  startedAt: at,
  endedAt: at,
  outcome: 'done',
  code: 'ok',
} as const;

function traced(changes: Partial<BookingTrace> = {}, state: StepState | undefined = 'done'): BookingTrace {
  return {
    ...{ kind: 'booking', run: someRun(), stream: 'posted', batch: 0, position: 0 },
    line: '7,BR-1,Ana Gil,,,,',
    attempts: [{ ...attempt, answer: 'for Ana Gil' }],
    step: { name: 'batch 3', kind: 'batch', state, bookings: 1 },
    ...changes,
  };
}

const silent = { withAnswers: false };

describe('The history of a booking', () => {
  it('has neither the guest nor the service’s words, unless these are asked for', () => {
    const file = traced({ stream: 'file', line: '7,BR-1,"Gil, Ana",hotelbeds,00123,20112026,23112026' });
    for (const trace of [traced(), file])
      expect(JSON.stringify(toHistory(trace, silent))).not.toMatch(/Ana|Gil/);
    expect(toHistory(file, silent).booking).toMatchObject({
      BookingClientName: '***',
      CheckInDate: '2026-11-20',
    });
    expect(toHistory(traced(), { withAnswers: true }).attempts).toMatchObject([{ answer: 'for Ana Gil' }]);
  });

  it('says why no verdict is known, and up to when no e-mail named it', () => {
    const emailsReadUntil = at;
    const describe = (trace: BookingTrace, options = {}) =>
      describeVerdict(toHistory(trace, { ...silent, ...options }), formatInstant);
    const byFile = traced({ run: someRun({ delivery: 'file' }) });
    expect([
      describe(traced()),
      describe(traced(), { emailsReadUntil }),
      describe(byFile, { emailsReadUntil }),
      describe(traced({ namedByEmailAt: at }), { emailsReadUntil }),
      describe(traced({}, 'refused'), { emailsReadUntil }),
      describe(traced({ isSuperseded: true })),
    ]).toEqual([
      'unknown, it went by body, and the service reports such verdicts by e-mail only',
      'unknown, it went by body, and is not named by any e-mail up to 2026-11-21 02:30:05Z',
      expect.stringMatching(/^unknown, it can't be in the file and went by body, and is not named/),
      'affected, its mapping is incorrect (named by e-mail of 2026-11-21 02:30:05Z)',
      'unknown, the service refused it',
      expect.stringMatching(/; superseded: its source held another hotel or stay/),
    ]);
  });

  it('of a rejected record is no more than its place, and why', () => {
    const reject: Trace = {
      kind: 'reject',
      run: someRun(),
      place: 88,
      reason: 'service-id-invalid',
      value: 'Ana',
    };
    const { runId, day, runState, ...history } = toHistory(reject, silent);
    expect(history).toEqual({
      ...{ state: 'rejected', verdict: 'unknown', verdictReason: 'not-delivered' },
      rejected: { place: 88, reason: 'service-id-invalid' },
    });
    // A name may stand in the column of the reference.
    expect(subjectOf('Ana', [toHistory(reject, silent)])).toBeUndefined();
    expect(subjectOf('BR-1', [toHistory(reject, silent), toHistory(traced(), silent)])).toBe('BR-1');
  });
});
