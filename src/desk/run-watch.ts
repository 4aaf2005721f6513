import * as z from 'zod';
import { orAborted, pause } from '../async/abort.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { hasWork, isActive, type Run } from '../ledger/run.js';
import { HttpError } from '../server/http-error.js';
import type { DeskParts } from './page.js';

/** The address of a run. */
export const runInput = z.object({ id: z.string() });

/** Anything else needs no query to the ledger. */
const runName = /^[\w.-]{1,64}$/;

/** @throws HttpError 404 */
export async function findShownRun(ledger: ReadOnlyLedger, id: string): Promise<Run> {
  const run = runName.test(id) ? await ledger.runs.find(id) : undefined;
  if (!run) throw new HttpError(404, 'the ledger holds no run of that name');
  return run;
}

/** How many bookings were done at an instant. */
export interface Sample {
  readonly at: number;
  readonly done: number;
}

/** What can still be worked on; undefined if there is nothing. */
export async function readOpenWork(ledger: ReadOnlyLedger, run: Run, now: number) {
  return hasWork(run) ? ledger.steps.readOpenWork(run.id, now) : undefined;
}

export function toSample({ counts: { delivered, refused } }: Pick<Run, 'counts'>, at: number): Sample {
  return { at, done: delivered + refused };
}

/** How far back the estimate of the time left looks, in polls. */
const samplesKept = 60;

/** All watchers of a run share one polling loop on the ledger, which ends with the last of them. */
export function createRunWatches({
  ledger,
  clock,
  everyMs = 1_000,
}: Pick<DeskParts, 'ledger' | 'clock'> & { readonly everyMs?: number }) {
  const polls = new Map<string, Poll>();

  async function look(poll: Poll, runId: string) {
    const run = runName.test(runId) ? await ledger.runs.find(runId) : undefined;
    if (!run) return undefined;
    const now = clock();
    const work = await readOpenWork(ledger, run, now);
    /** A while ago; undefined at the first look, which has nothing to compare with. */
    const since = poll.samples[0];
    poll.samples.push(toSample(run, now));
    if (poll.samples.length > samplesKept) poll.samples.shift();
    return { run, work, since };
  }

  /** The next look at the ledger, shared by all who wait for it. */
  function lookAgain(poll: Poll, runId: string): ReturnType<typeof look> {
    poll.next ??= pause(poll.samples.length === 0 ? 0 : everyMs, poll.over.signal)
      .then(() => (poll.over.signal.aborted ? undefined : look(poll, runId)))
      .finally(() => {
        poll.next = undefined;
      });
    return poll.next;
  }

  interface Poll {
    watchers: number;
    readonly samples: Sample[];
    readonly over: AbortController;
    next: ReturnType<typeof look> | undefined;
  }

  return {
    /** The state of a run, about once a second, until it has ended or the signal aborts. The last one shows the end. */
    async *watch(runId: string, signal: AbortSignal) {
      const fresh = { watchers: 0, samples: [], over: new AbortController(), next: undefined };
      const poll = polls.get(runId) ?? fresh;
      polls.set(runId, poll);
      poll.watchers += 1;
      try {
        for (;;) {
          const found = await orAborted(lookAgain(poll, runId), signal);
          if (!found || found === 'aborted') return;
          yield found;
          if (!isActive(found.run)) return;
        }
      } finally {
        poll.watchers -= 1;
        if (poll.watchers === 0) {
          poll.over.abort();
          polls.delete(runId);
        }
      }
    },
  };
}

const watches = new WeakMap<DeskParts, ReturnType<typeof createRunWatches>>();

/** Those of a desk, for all of its visitors. */
export function watchesOf(desk: DeskParts) {
  const found = watches.get(desk) ?? createRunWatches(desk);
  watches.set(desk, found);
  return found;
}
