import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBusinessDay } from '../../src/booking/business-day.js';
import type { Beat, Heartbeat } from '../../src/notify/channels/heartbeat.js';
import type { HotelReviewEvent } from '../../src/notify/events.js';
import { createHeartbeatObserver, toBeat } from '../../src/notify/heartbeat-observer.js';
import type { DueDay } from '../../src/schedule/due-days.js';
import { someRun } from '../review/some-run.js';

/** In the night after the day of `someRun`. */
const now = Date.parse('2026-11-21T02:30:13Z');
const timezone = 'Europe/Madrid';
const failed = {
  state: 'failed',
  failure: { class: 'retryable', code: 'steps-failed', message: 'Guest 1 is in this text' },
} as const;

const settled = (run: Parameters<typeof someRun>[0] = {}): HotelReviewEvent => ({
  type: 'settled',
  run: someRun(run),
});
const opened = (run: Parameters<typeof someRun>[0] = {}, isResumed = false): HotelReviewEvent => ({
  type: 'run-opened',
  run: someRun({ state: 'collecting', ...run }),
  isResumed,
});
const dueDayFailed = (day: string): HotelReviewEvent => {
  const dueDay: DueDay = { day: createBusinessDay(day, timezone), kind: 'start', isNightly: true };
  return { type: 'due-day-failed', dueDay, error: new Error('Guest 1') };
};
const brokeOff: HotelReviewEvent = {
  ...{ type: 'review-broke-off', day: '2026-11-20' },
  error: new Error('Guest 1'),
};

describe('Of last night, the service hears', () => {
  it.each<[string, HotelReviewEvent, string | undefined]>([
    ['a new run', opened(), 'start'],
    ['a resumed run, which was started before', opened({}, true), undefined],
    ['success', settled(), 'success'],
    ['a failed run', settled(failed), 'failure steps-failed'],
    ['a run of today', settled({ trigger: 'today' }), undefined],
    ['another number of records than expected', settled({ expected: 2_000 }), undefined],
    [
      'a run that was collected before its day was over',
      settled({ collectStartedAt: Date.parse('2026-11-20T20:00:00Z') }),
      undefined,
    ],
    ['an older day that was asked for', settled({ day: '2026-11-19' }), 'success'],
    ['a replay of an older day', settled({ day: '2026-11-19', trigger: 'replay' }), undefined],
    ['a missed night', settled({ day: '2026-11-19', trigger: 'schedule' }), undefined],
    ['a day that failed without a run', dueDayFailed('2026-11-20'), 'failure broke-off'],
    ['an older day that failed without a run', dueDayFailed('2026-11-19'), undefined],
    ['a review that broke off', brokeOff, 'failure broke-off'],
  ])('of %s: %#', (_, event, heard) => {
    const beat = toBeat(event, { timezone, now });
    expect(beat && [beat.state, ...(beat.code === undefined ? [] : [beat.code])].join(' ')).toBe(heard);
    expect(JSON.stringify(beat ?? {})).not.toContain('Guest');
  });

  it('by the calendar of the zone', () => {
    const beforeMidnight = Date.parse('2026-11-21T22:59:59Z');
    const nightly = settled({ trigger: 'schedule' });
    expect(toBeat(nightly, { timezone, now: beforeMidnight })?.state).toBe('success');
    expect(toBeat(nightly, { timezone, now: beforeMidnight + 1_000 })).toBeUndefined();
    expect(toBeat(nightly, { timezone: 'Pacific/Auckland', now: beforeMidnight })).toBeUndefined();
  });

  it('the counts and how long it took', () => {
    expect(toBeat(settled(), { timezone, now })?.run).toEqual({
      id: someRun().id,
      counts: someRun().counts,
      durationMs: 12_300,
    });
  });
});

/** What was sent, and what the test lets happen to it. */
function watchHeartbeat(answer: (beat: Beat, signal: AbortSignal) => Promise<string | undefined>) {
  const sent: string[] = [];
  let isClosed = false;
  const heartbeat: Heartbeat = {
    send(beat, signal) {
      sent.push(beat.state);
      return answer(beat, signal);
    },
    async close() {
      isClosed = true;
    },
  };
  const warnings: string[] = [];
  const stopping = new AbortController();
  const warn = (code: string) => warnings.push(code);
  const parts = { heartbeat, timezone, clock: () => now, warn, stop: stopping.signal, closeMs: 300 };
  return { sent, warnings, stopping, isClosed: () => isClosed, observer: createHeartbeatObserver(parts) };
}

const hang = (_: Beat, signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );

describe('The observer', () => {
  it('sends one beat after another', async () => {
    let finishStart = () => {};
    const { observer, sent } = watchHeartbeat(async ({ state }) => {
      if (state === 'start') await new Promise<void>((resolve) => (finishStart = resolve));
      return undefined;
    });
    void observer.notify(opened());
    const ended = observer.notify(settled());
    await new Promise(setImmediate);
    expect(sent).toEqual(['start']);
    finishStart();
    await ended;
    expect(sent).toEqual(['start', 'success']);
  });

  it('warns once while it does not work', async () => {
    const codes = ['http-404', 'http-404', undefined, 'timeout'];
    const { observer, warnings } = watchHeartbeat(async () => codes.shift());
    for (let beat = 0; beat < 4; beat += 1) await observer.notify(settled(failed));
    expect(warnings).toEqual(['http-404', 'timeout']);
  });

  it('reports nothing that fails after a good run', async () => {
    const { observer, sent } = watchHeartbeat(async () => undefined);
    await observer.notify(settled());
    await observer.notify(dueDayFailed('2026-11-20'));
    expect(sent).toEqual(['success']);
    await observer.notify(settled(failed));
    expect(sent).toEqual(['success', 'failure']);
    // An older day that somebody asked for says nothing about last night.
    await observer.notify(settled({ day: '2026-11-19' }));
    await observer.notify(dueDayFailed('2026-11-20'));
    expect(sent).toEqual(['success', 'failure', 'success', 'failure']);
  });

  it('gives up on a receiver that never answers, and says so', async () => {
    const { observer, warnings, isClosed } = watchHeartbeat(hang);
    void observer.notify(settled());
    await observer.close();
    expect(warnings).toEqual(['timeout']);
    expect(isClosed()).toBe(true);
  });

  it('keeps no process alive once it is closed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { observer } = watchHeartbeat(async () => undefined);
    await observer.notify(settled());
    await observer.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('stops waiting once it is asked to stop', async () => {
    const watched = watchHeartbeat(hang);
    const patient = createHeartbeatObserver({
      heartbeat: { send: hang, close: async () => {} },
      ...{ timezone, clock: () => now, warn: () => {}, closeMs: 2 ** 30, stop: watched.stopping.signal },
    });
    void patient.notify(settled());
    const closed = patient.close();
    watched.stopping.abort();
    await closed;
  });
});
