import type { StepQueue } from '../../src/booking/step-queue.js';

/** A queue that loses everything added to it. */
export function createForgetfulQueue(): StepQueue {
  return {
    add: async () => {},
    waitForCapacity: async () => {},
    countWaiting: async () => 0,
    check: async () => {},
    work: () => {},
    holdOff: async () => false,
    drop: async () => {},
    close: async () => {},
  };
}
