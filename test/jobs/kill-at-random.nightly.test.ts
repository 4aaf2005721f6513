import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { CommandResult, RunningCommand } from '../support/command.js';
import { expectReport } from '../support/expectations.js';
import { type StandInHandler, success } from '../support/http-stand-in.js';
import type { LedgerWatch } from '../support/ledger-watch.js';
import { prepareReviewedDay, runArguments } from '../support/reviewed-day.js';
import { seededRandom } from '../support/seed.js';

/** Days are processed concurrently, one per lane. */
const lanes = 2;
const killsOfLane = 15;
/** After this many kills, a day is left to finish. */
const killsOfDay = 3;
/** Several transactions of collect, and 120 batches. */
const bookings = 24_000;
const batchSize = 200;
const answerMs = 4;

/** When a run is killed, relative to its start. */
type Moment =
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'collected'; readonly read: number }
  | { readonly kind: 'request'; readonly number: number; readonly when: 'taken' | 'answered' };

it('a run that is killed at 30 random moments loses nothing and sends nothing twice that was recorded', {
  timeout: 1_200_000,
}, async () => {
  const startedAt = performance.now();
  const undisturbed = {
    kills: 0,
    random: seededRandom(),
    chooseMoment: (): Moment => ({ kind: 'time', ms: 0 }),
  };
  expect(await reviewDay(undisturbed)).toBe(0);
  const undisturbedMs = performance.now() - startedAt;

  const killed = await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const random = seededRandom(lane);
      let killedInLane = 0;
      while (killedInLane < killsOfLane) {
        killedInLane += await reviewDay({
          kills: Math.min(killsOfDay, killsOfLane - killedInLane),
          random,
          chooseMoment: (collects) => chooseMoment(random, undisturbedMs, collects),
        });
      }
      return killedInLane;
    }),
  );
  expect(killed).toEqual(Array(lanes).fill(killsOfLane));
});

function chooseMoment(random: () => number, undisturbedMs: number, collects: boolean): Moment {
  const number = (most: number) => 1 + Math.floor(random() * most);
  if (collects && random() < 0.5) return { kind: 'collected', read: number(bookings) };
  if (random() < 0.5) return { kind: 'time', ms: number(undisturbedMs) };
  const when = random() < 0.5 ? 'taken' : 'answered';
  return { kind: 'request', number: number(bookings / batchSize / killsOfDay), when };
}

/**
 * Reviews a new day, killing the processes that work on it until its run ends by itself; returns how many were killed.
 */
async function reviewDay({
  kills,
  random,
  chooseMoment,
}: {
  readonly kills: number;
  readonly random: () => number;
  /** @param collects whether the run starts with a collect */
  readonly chooseMoment: (collects: boolean) => Moment;
}): Promise<number> {
  const service = createService();
  const day = await prepareReviewedDay({
    bookings,
    settings: { body: { batchSize } },
    handler: service.handler,
  });
  const { processes } = day.folder;
  let command = day.folder.start(runArguments);
  let killed = 0;
  while (killed < kills && !command.hasEnded) {
    // Only the `run` itself collects.
    const victim = killed === 0 ? command : processes.pick(random);
    const moment = chooseMoment(killed === 0);
    if (!(await killAt(moment, { victim, command, service, ledger: day.ledger }))) break;
    const { signal } = await victim.ended;
    await day.ledger.expectSound();
    await day.arrivals.check();
    if (signal === null) break;
    expect(signal).toBe('SIGKILL');
    killed += 1;
    if (victim === command) command = day.folder.start(runArguments);
    else await processes.gather();
  }
  await checkEnd(await command.ended);
  return killed;

  async function checkEnd(result: CommandResult): Promise<void> {
    expect(result.stderr).not.toContain('unexpected');
    const counts = { read: day.records, duplicates: bookings / 40, rejected: bookings / 50 };
    expectReport(result, { exitCode: 0, state: 'succeeded', counts });
    await day.arrivals.checkWhole(result.report, day.bookings);
    expect((await day.ledger.dump()).runs, 'one run, however often it was killed').toHaveLength(1);
  }
}

interface Scene {
  readonly victim: RunningCommand;
  /** The `run`, whether it is the victim or not. */
  readonly command: RunningCommand;
  readonly service: Service;
  readonly ledger: LedgerWatch;
}

/** Kills the victim at that moment; false when the `run` ended before. */
async function killAt(moment: Moment, { victim, command, service, ledger }: Scene): Promise<boolean> {
  switch (moment.kind) {
    case 'time': {
      const over = new AbortController();
      const due = delay(moment.ms, undefined, { signal: over.signal }).catch(() => {});
      await Promise.race([due, command.ended]);
      over.abort();
      break;
    }
    case 'collected': {
      const { release } = await ledger.holdWhen(({ read }) => read >= moment.read);
      // What it does once the ledger is released is left to chance.
      await release();
      break;
    }
    case 'request':
      await Promise.race([service.reach(moment), command.ended]);
  }
  if (command.hasEnded) return false;
  victim.kill('SIGKILL');
  return true;
}

interface Service {
  readonly handler: StandInHandler;
  /** Resolves at this request, counted from now on. */
  reach(moment: Extract<Moment, { kind: 'request' }>): Promise<void>;
}

/** Accepts everything, each after a short delay. */
function createService(): Service {
  let planned: { number: number; when: 'taken' | 'answered'; tell: () => void } | undefined;
  let arrived = 0;
  return {
    async handler(request) {
      await request.readBody();
      arrived += 1;
      const plan = planned?.number === arrived ? planned : undefined;
      if (plan?.when === 'taken') plan.tell();
      else await delay(answerMs);
      // When the answer was written to the connection.
      if (plan?.when === 'answered') setImmediate(plan.tell);
      return success;
    },
    reach({ number, when }) {
      arrived = 0;
      return new Promise((resolve) => {
        planned = { number, when, tell: resolve };
      });
    },
  };
}
