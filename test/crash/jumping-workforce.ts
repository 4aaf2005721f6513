import type { StepQueue } from '../../src/booking/step-queue.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { createInProcessQueues } from '../../src/queue/in-process.js';
import type { Delivery } from '../../src/review/delivery.js';
import type { Notify } from '../../src/review/events.js';
import { createOwnWorkforce, type Workforce } from '../../src/review/perform/workforce.js';
import type { DeliveryKind, Run } from '../../src/rules/run.js';
import { withoutWaiting } from './jumping-queue.js';
import { type Life, throughLife } from './life.js';
import type { Outside } from './outside.js';
import { createTurns, type Turns } from './turns.js';

/** No lease ends while a test runs, and so none is renewed. */
export const leaseMs = 3_600_000;

interface WorkforceParts {
  readonly ledger: Ledger;
  readonly life: Life;
  readonly outside: Pick<Outside, 'clock' | 'reach' | 'random'>;
  /** A step begins only when the one before it is recorded. */
  readonly isSerial: boolean;
  /** Between two tries, or between two looks for a result. */
  readonly longestWaitMs: number;
  /** How many steps are performed at once; more than one may get the same. One, if absent. */
  readonly workers?: number;
  readonly turns?: Turns;
  readonly notify?: Notify;
}

/** Of the steps that several workers share. */
const oneDoubledIn = 4;

/** Workers for whom time passes only while there is nothing to do. */
export function createJumpingWorkforce(
  {
    ledger,
    life,
    outside,
    isSerial,
    longestWaitMs,
    workers = 1,
    turns = createTurns(outside.random),
    notify = () => {},
  }: WorkforceParts,
  deliveryFor: (kind: DeliveryKind) => Delivery,
): Workforce {
  const { clock, random } = outside;
  const openQueue = createInProcessQueues({ concurrency: workers, clock });
  const createQueue = (): StepQueue => {
    const isDoubled = () => workers > 1 && random() * oneDoubledIn < 1;
    const pace = { isSerial, isOver: () => life.isOver, longestWaitMs, turns, isDoubled };
    const queue = withoutWaiting(openQueue(), { ...outside, ...pace });
    const counted = throughLife(life, 'queue', queue, ['add', 'holdOff', 'drop']);
    return {
      ...counted,
      // Adding nothing is no point: it may come at any time.
      add(steps) {
        const added = [...steps];
        return added.length > 0 ? counted.add(added) : queue.add(added);
      },
    };
  };
  const parts = {
    ledger,
    deliveryOf: ({ delivery }: Run) => deliveryFor(delivery),
    retry: { tries: 6, baseMs: 1_000, capMs: 60_000, retryAfterCapMs: 60_000, waits: 5 },
    limits: { maxRefusedShare: 1, maxAffectedShare: 0.05 },
    leaseMs,
    longestWaitMs,
    graceMs: 0,
    clock,
    random,
    notify,
  };
  return createOwnWorkforce(parts, createQueue);
}
