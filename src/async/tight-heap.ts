import { setFlagsFromString } from 'node:v8';

let users = 0;

/**
 * Runs work that holds tens of megabytes in small objects, and makes much garbage besides. V8 would let the heap double before
 * it collects again; during this work, 30% more must do, which costs processor time.
 */
export async function withTightHeap<Result>(work: () => Promise<Result>): Promise<Result> {
  users += 1;
  setFlagsFromString('--heap-growing-percent=30');
  try {
    return await work();
  } finally {
    users -= 1;
    // V8's own rule.
    if (users === 0) setFlagsFromString('--heap-growing-percent=0');
  }
}
