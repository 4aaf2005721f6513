import { describe, expect, it } from 'vitest';
import { renderHistories } from '../../jobs/show.js';
import { toHistory } from '../../src/cases/shown-bookings.js';
import type { Attempt } from '../../src/ledger/attempts.js';
import type { StepState } from '../../src/ledger/step.js';
import type { Trace } from '../../src/ledger/tracing.js';
import { readMaskedFields } from '../../src/review/stored/stored-line.js';
import { someRun } from '../review/some-run.js';

const line = '{"ServiceId":7,"BookingReferenceId":"BR-1042","BookingClientName":"Ana Lovelace"}';
const fileLine = '7,BR-1042,"Lovelace, Ana",hotelbeds,00123,20112026,23112026';
const first: Attempt = {
  step: 'batch 3',
  attempt: 1,
  startedAt: Date.parse('2026-11-21T02:30:05Z'),
  endedAt: Date.parse('2026-11-21T02:30:35Z'),
  outcome: 'retry',
  code: 'timeout',
};
const second: Attempt = {
  ...first,
  attempt: 2,
  startedAt: Date.parse('2026-11-21T02:30:37Z'),
  outcome: 'done',
  code: 'ok',
  httpStatus: 200,
  statusCode: 2000,
  answer: 'thank you, Ana Lovelace',
};

describe('the history of a booking', () => {
  it('lists every attempt, with the name masked, without the service’s messages', () => {
    const history = toHistory(booked('done', [first, second]), { withAnswers: false });
    expect(JSON.stringify(history)).not.toContain('Lovelace');
    expect(renderHistories('BR-1042', [history])).toBe(
      `BR-1042: delivered in run 20261120-k3f9xq7d of 2026-11-20 (succeeded)
  verdict: unknown, it went by body, and the service reports such verdicts by e-mail only
  ServiceId: 7
  BookingReferenceId: BR-1042
  BookingClientName: ***
  2026-11-21 02:30:05Z  batch 3, attempt 1: retry, timeout
  2026-11-21 02:30:37Z  batch 3, attempt 2: done, ok (HTTP 200)
`,
    );
  });

  it.each([
    [
      { place: 0, reason: 'other-master', serviceId: 8 },
      { reason: 'other-master', copyServiceId: 8, copy: 'mapped', movedAt: null },
      'suspect: the local copy has its hotel under ServiceId 8',
    ],
    [
      { place: 0, reason: 'moved', serviceId: 7, movedAt: first.startedAt },
      { reason: 'moved', copyServiceId: 7, copy: 'mapped', movedAt: '2026-11-21T02:30:05.000Z' },
      'suspect: its mapping changed to this ServiceId recently (seen 2026-11-21 02:30:05Z)',
    ],
    [
      { place: 0, reason: 'moved', movedAt: first.startedAt },
      { reason: 'moved', copyServiceId: null, copy: 'unmapped', movedAt: '2026-11-21T02:30:05.000Z' },
      'suspect: its mapping was deleted (seen 2026-11-21 02:30:05Z)',
    ],
  ] as const)('reports what the local copy said: %j', (suspect, reported, words) => {
    const history = toHistory({ ...booked('done', [second]), suspect }, { withAnswers: false });
    expect(history.suspect).toEqual(reported);
    expect(renderHistories('BR-1042', [history])).toContain(`\n  ${words}\n`);
  });

  it('includes the service’s messages on request', () => {
    const history = toHistory(booked('done', [first, second]), { withAnswers: true });
    expect(history.attempts).toMatchObject([
      { code: 'timeout', startedAt: '2026-11-21T02:30:05.000Z' },
      { answer: 'thank you, Ana Lovelace', endedAt: '2026-11-21T02:30:35.000Z' },
    ]);
    expect(history.attempts?.[0]).not.toHaveProperty('answer');
    expect(renderHistories('BR-1042', [history])).toContain(
      '    the service said: thank you, Ana Lovelace\n',
    );
  });

  it.each<[StepState | undefined, string]>([
    ['done', 'delivered'],
    ['refused', 'refused'],
    ['waiting', 'pending'],
    ['ready', 'pending'],
    ['running', 'pending'],
    ['failed', 'pending'],
    ['halved', 'pending'],
    ['overdue', 'pending'],
    [undefined, 'pending'],
  ])('derives its state from the state of its step: %s is %s', (state, word) => {
    expect(toHistory(booked(state), { withAnswers: false }).state).toBe(word);
  });

  it('shows a booking of the file in the same form, including its dates', () => {
    const history = toHistory({ ...booked('done'), form: 'file', line: fileLine }, { withAnswers: false });
    expect(history.booking).toEqual({
      ServiceId: 7,
      BookingReferenceId: 'BR-1042',
      BookingClientName: '***',
      ProviderName: 'hotelbeds',
      ProviderHotelId: '00123',
      CheckInDate: '2026-11-20',
      CheckOutDate: '2026-11-23',
    });
    expect(renderHistories('BR-1042', [history])).toContain(
      '  ProviderHotelId: 00123\n  CheckInDate: 2026-11-20\n  CheckOutDate: 2026-11-23\n',
    );
  });

  it('shows the verdict right below its state', () => {
    const history = toHistory(booked('done'), { withAnswers: false });
    expect(history).toMatchObject({ verdict: 'unknown', verdictReason: 'by-email' });
    expect(renderHistories('BR-1042', [history]).split('\n')[1]).toBe(
      '  verdict: unknown, it went by body, and the service reports such verdicts by e-mail only',
    );
  });

  it('says that a booking of a run by file went by body', () => {
    const history = toHistory(
      { ...booked('done'), run: someRun({ delivery: 'file' }) },
      { withAnswers: false },
    );
    expect(history).toMatchObject({ verdict: 'unknown', verdictReason: 'by-email', posted: true });
    expect(renderHistories('BR-1042', [history])).toContain(
      "\n  verdict: unknown, it can't be in the file and went by body, and the service reports such verdicts by e-mail only\n",
    );
    expect(toHistory(booked('done'), { withAnswers: false })).not.toHaveProperty('posted');
  });

  it('has no verdict on what the service refused', () => {
    const history = toHistory(booked('refused'), { withAnswers: false });
    expect(history).toMatchObject({ verdict: 'unknown', verdictReason: 'not-delivered' });
    expect(renderHistories('BR-1042', [history])).toContain('\n  verdict: unknown, the service refused it\n');
  });

  it('gives no reason for a verdict that is known', () => {
    const file = { verdicts: { affected: 1, unanswered: 0, unclear: 0, malformed: 0 } };
    const trace = {
      ...booked('done'),
      run: someRun({ delivery: 'file', file }),
      form: 'file',
      judged: 'incorrect',
    } as const;
    const history = toHistory(
      { ...trace, line: '7,BR-1042,Ann,hotelbeds,00123,2026-11-20,2026-11-23' },
      { withAnswers: false },
    );
    expect(history.verdict).toBe('incorrect');
    expect(history).not.toHaveProperty('verdictReason');
    expect(renderHistories('BR-1042', [history])).toContain(
      '  verdict: affected, its mapping is incorrect\n',
    );
  });

  it('of a booking that was not sent says so', () => {
    const history = toHistory(booked('ready'), { withAnswers: false });
    expect(renderHistories('BR-1042', [history])).toContain('\n  not sent yet\n');
  });

  it('of a reject says why and where', () => {
    const trace: Trace = { kind: 'reject', run: someRun(), place: 88, reason: 'service-id-invalid' };
    const history = toHistory(trace, { withAnswers: false });
    expect(history).toEqual({
      runId: '20261120-k3f9xq7d',
      day: '2026-11-20',
      runState: 'succeeded',
      state: 'rejected',
      verdict: 'unknown',
      verdictReason: 'not-delivered',
      rejected: { place: 88, reason: 'service-id-invalid' },
    });
    expect(renderHistories('BR-1042', [history])).toBe(
      `BR-1042: rejected in run 20261120-k3f9xq7d of 2026-11-20 (succeeded)
  not sent: service-id-invalid, at place 88 of the source
`,
    );
  });

  it('keeps a blank line between runs', () => {
    const reject: Trace = { kind: 'reject', run: someRun(), place: 1, reason: 'service-id-missing' };
    const history = toHistory(reject, { withAnswers: false });
    expect(renderHistories('BR-1', [history, history])).toMatch(/source\n\nBR-1: rejected/);
  });
});

describe('masking', () => {
  it('hides the name and keeps everything else, in order', () => {
    expect(JSON.stringify(readMaskedFields(line, 'body'))).toBe(line.replace('Ana Lovelace', '***'));
    expect(readMaskedFields('{"ServiceId":7}', 'body')).toEqual({ ServiceId: 7 });
  });

  it('hides the name in a line of the file, and omits a blanked one', () => {
    expect(Object.values(readMaskedFields(fileLine, 'file')).join()).toBe(
      '7,BR-1042,***,hotelbeds,00123,2026-11-20,2026-11-23',
    );
    const blanked = fileLine.replace('"Lovelace, Ana"', '');
    expect(readMaskedFields(blanked, 'file')).not.toHaveProperty('BookingClientName');
  });
});

function booked(
  state: StepState | undefined,
  attempts: readonly Attempt[] = [],
): Extract<Trace, { kind: 'booking' }> {
  const step = state && { name: 'batch 3', kind: 'batch' as const, state };
  return {
    kind: 'booking',
    run: someRun(),
    form: 'body',
    batch: 0,
    position: 0,
    line,
    attempts,
    ...(step && { step }),
  };
}
