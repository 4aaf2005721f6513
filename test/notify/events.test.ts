import { expect, it, vi } from 'vitest';
import { createEventCounters } from '../../src/desk/server/metrics.js';
import { createNotify, type HotelReviewEvent } from '../../src/notify/events.js';
import { someRun } from '../review/some-run.js';
import { patienceMs } from '../support/patience.js';

const working: HotelReviewEvent = { type: 'working' };

it('an observer that throws or rejects disturbs neither the emitter nor the other observers', async () => {
  const [thrown, rejected] = [new Error('no space left'), new Error('no route to host')];
  const onFault = vi.fn();
  const last = vi.fn();
  const notify = createNotify(
    [
      () => {
        throw thrown;
      },
      async () => {
        throw rejected;
      },
      last,
    ],
    onFault,
  );
  notify(working);
  notify(working);
  expect(last).toHaveBeenCalledTimes(2);
  await vi.waitFor(() => expect(onFault.mock.calls).toEqual([[thrown], [rejected]]), { timeout: patienceMs });
});

it('an observer that returns something other than a promise has not failed', () => {
  const onFault = vi.fn();
  const notify = createNotify([createEventCounters(() => 0).notify], onFault);
  notify({ type: 'collected', run: someRun() });
  notify({ type: 'settled', run: someRun() });
  expect(onFault).not.toHaveBeenCalled();
});
