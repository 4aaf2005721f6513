import { pause, untilAborted } from '../../async/abort.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { isActive } from '../../ledger/run.js';
import { type RunState, readRunState, type Sample, toSample } from './run-moment.js';

/** What watchers of a run get: its state now, and a while ago. */
export interface WatchedRun extends RunState {
  readonly since: Sample;
}

export interface RunWatches {
  /** The state of a run, about once a second, until it has ended or the signal aborts. The last one shows the end. */
  watch(runId: string, signal: AbortSignal): AsyncIterable<WatchedRun>;
}

interface WatchParts {
  readonly ledger: ReadOnlyLedger;
  readonly clock: () => number;
  readonly everyMs?: number;
}

/** How far back the estimate of the time left looks, in polls. */
const samplesKept = 60;

/** All watchers of a run share one polling loop on the ledger, which ends with the last of them. */
export function createRunWatches({ ledger, clock, everyMs = 1_000 }: WatchParts): RunWatches {
  const polls = new Map<string, Poll>();

  async function look(poll: Poll, runId: string): Promise<WatchedRun | undefined> {
    const run = await ledger.runs.find(runId);
    if (!run) return undefined;
    const now = clock();
    const state = await readRunState(ledger, run, now);
    poll.samples.push(toSample(run, now));
    if (poll.samples.length > samplesKept) poll.samples.shift();
    return { ...state, since: poll.samples[0] ?? toSample(run, now) };
  }

  /** The next look at the ledger, shared by all who wait for it. */
  function lookAgain(poll: Poll, runId: string): Promise<WatchedRun | undefined> {
    poll.next ??= (async () => {
      try {
        await pause(poll.samples.length === 0 ? 0 : everyMs, poll.over.signal);
        return poll.over.signal.aborted ? undefined : await look(poll, runId);
      } finally {
        poll.next = undefined;
      }
    })();
    return poll.next;
  }

  return {
    async *watch(runId, signal) {
      const poll = polls.get(runId) ?? {
        watchers: 0,
        samples: [],
        over: new AbortController(),
        next: undefined,
      };
      polls.set(runId, poll);
      poll.watchers += 1;
      const ended = new AbortController();
      const left = untilAborted(signal, ended.signal);
      try {
        for (;;) {
          const found = await Promise.race([lookAgain(poll, runId), left]);
          if (!found || found === 'aborted') return;
          yield found;
          if (!isActive(found.run)) return;
        }
      } finally {
        ended.abort();
        poll.watchers -= 1;
        if (poll.watchers === 0) {
          poll.over.abort();
          polls.delete(runId);
        }
      }
    },
  };
}

interface Poll {
  watchers: number;
  readonly samples: Sample[];
  readonly over: AbortController;
  next: Promise<WatchedRun | undefined> | undefined;
}
