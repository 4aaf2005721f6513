import { pause } from '../src/async/abort.js';
import { withTightHeap } from '../src/async/tight-heap.js';
import { businessDayAt } from '../src/booking/business-day.js';
import type { CaseEvent } from '../src/cases/case-events.js';
import type { CaseLedger } from '../src/cases/case-store.js';
import { followMappings } from '../src/cases/follow-mappings.js';
import { updateCases } from '../src/cases/update-cases.js';
import type { Config } from '../src/config/load.js';
import type { Canary, CanaryEvent } from '../src/review/canary.js';
import { reportMissedCanaries } from '../src/review/day/missed-canaries.js';
import { formatCountOf } from '../src/text/format.js';
import { describeError } from '../src/text/safe-error.js';
import type { WriteCommand } from '../src/text/shell.js';
import { clock } from './clock.js';

/** When a case is escalated that was reported to the service but not corrected. */
const escalateAfterMs = 3 * 86_400_000;

interface FollowUpParts {
  readonly ledger: CaseLedger;
  readonly notify: (event: CaseEvent | CanaryEvent) => void;
  /** Called with a message when a part of the follow-up failed. */
  readonly warn: (message: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Opens cases for what runs found, and updates existing ones. It is not part of a run: if it fails, the run's outcome stands,
 * and the next run catches up.
 */
export function followUpRuns(config: Config, parts: FollowUpParts): Promise<void> {
  const { ledger, notify, signal } = parts;
  const today = businessDayAt(new Date(clock()), config.timezone).iso;
  return attempt(parts, 'the cases could not be updated', () =>
    withTightHeap(() => updateCases({ ledger, today, escalateAfterMs, clock, notify, signal })),
  );
}

/** Like `followUpRuns`, and prints how many cases were opened and how to list them. */
export async function followUpAndSay(
  config: Config,
  parts: Omit<FollowUpParts, 'warn'> & {
    readonly say: (text: string) => void;
    readonly command: WriteCommand;
  },
): Promise<void> {
  const opened = { cases: 0, bookings: 0 };
  const notify: FollowUpParts['notify'] = (event) => {
    if (event.type === 'case-opened') {
      opened.cases += event.cases;
      opened.bookings += event.bookings;
    }
    parts.notify(event);
  };
  await followUpRuns(config, { ...parts, notify, warn: parts.say });
  if (opened.cases === 0) return;
  parts.say(
    `${formatCountOf(opened.cases, 'case')} opened, with ${formatCountOf(opened.bookings, 'booking')}: ${parts.command('cases')}`,
  );
}

/** Reports the canaries that no e-mail named in time, and returns them. */
export async function followUpCanaries({
  ledger,
  notify,
  warn,
}: Pick<FollowUpParts, 'ledger' | 'notify' | 'warn'>): Promise<readonly Canary[]> {
  let missed: readonly Canary[] = [];
  await attempt({ warn }, 'the canaries could not be checked', async () => {
    missed = await reportMissedCanaries({ ledger, clock, notify });
  });
  return missed;
}

/** How often `serve` looks for canaries that no e-mail named in time. */
const canaryCheckMs = 60_000;

/** Repeats that until the signal aborts. */
export async function watchCanaries(parts: FollowUpParts): Promise<void> {
  while (!parts.signal.aborted) {
    await followUpCanaries(parts);
    await pause(canaryCheckMs, parts.signal);
  }
}

/** Corrects cases after a sync. */
export function followUpSync(parts: FollowUpParts): Promise<void> {
  const { ledger, notify } = parts;
  return attempt(parts, 'the cases could not be updated', () =>
    followMappings({ ledger, escalateAfterMs, clock, notify }),
  );
}

async function attempt(
  { warn }: Pick<FollowUpParts, 'warn'>,
  failure: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    warn(`${failure}: ${describeError(error)}; the next run catches up`);
  }
}
