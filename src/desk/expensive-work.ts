import { orAborted, startTimeLimit } from '../base/abort.js';
import { createGate } from '../base/gate.js';
import { HttpError } from './server/http-error.js';

const defaults = { atOnce: 2, mostWaiting: 16, waitMs: 5_000 };

/**
 * Bounds how many expensive pages are worked on at the same time, whoever asks: a few visitors must not slow down reviews, or the
 * pages of others. Few wait, and not for long.
 */
export function limitExpensiveWork({ atOnce, mostWaiting, waitMs } = defaults) {
  const gate = createGate(atOnce);
  /** @returns gives the permit back. @throws HttpError 503, or the signal's reason for a visitor who has left */
  return async (visitor: AbortSignal): Promise<() => void> => {
    if (gate.countWaiting() >= mostWaiting) throw tooBusy();
    const limit = startTimeLimit(visitor, waitMs, tooBusy);
    let leave = () => {};
    const entered = new Promise<void>((pass) => {
      leave = gate.enter(pass);
    });
    try {
      if ((await orAborted(entered, limit.signal)) !== 'aborted') return leave;
      leave();
      throw limit.signal.reason;
    } finally {
      limit.stop();
    }
  };
}

function tooBusy(): HttpError {
  return new HttpError(503, 'too many large pages are being read: send the request again in a moment', {
    'retry-after': '5',
  });
}
