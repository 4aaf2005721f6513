import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFailed } from 'vitest';
import { createSeededRandom } from '../../src/sandbox/seeded-random.js';
import type { CommandResult, RunningCommand } from '../support/command.js';
import { expectReport } from '../support/expectations.js';
import { type StandInHandler, success } from '../support/http-stand-in.js';
import type { LedgerWatch } from '../support/ledger-watch.js';
import { prepareReviewedDay, runArguments } from '../support/reviewed-day.js';

/** Days are worked off side by side, one in each lane. */
const lanes = 2;
const killsOfLane = 15;
/** After so many kills a day is left in peace. */
const killsOfDay = 3;
/** Several transactions of collect, and 120 batches. */
const bookings = 24_000;
const batchSize = 200;
const answerMs = 4;

/** When a run is killed, counted from its start. */
type Moment =
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'collected'; readonly read: number }
  | { readonly kind: 'request'; readonly number: number; readonly when: 'taken' | 'answered' };

it('a run that is killed at 30 random moments loses nothing and sends nothing twice that was recorded', {
  timeout: 240_000,
}, async () => {
  const seed = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 2 ** 32));
  onTestFailed(() => console.error(`the same moments once more: KILL_SEED=${seed}`));
  const startedAt = performance.now();
  expect(await reviewDay({ kills: 0, chooseMoment: () => ({ kind: 'time', ms: 0 }) })).toBe(0);
  const undisturbedMs = performance.now() - startedAt;

  const killed = await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const random = createSeededRandom(seed + lane);
      let killedInLane = 0;
      while (killedInLane < killsOfLane) {
        killedInLane += await reviewDay({
          kills: Math.min(killsOfDay, killsOfLane - killedInLane),
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

/** Reviews a new day, killing its runs until one ends by itself, and tells how many were killed. */
async function reviewDay({
  kills,
  chooseMoment,
}: {
  readonly kills: number;
  /** @param collects that run begins with a collect */
  readonly chooseMoment: (collects: boolean) => Moment;
}): Promise<number> {
  const service = createService();
  const day = await prepareReviewedDay({
    bookings,
    settings: { body: { batchSize } },
    handler: service.handler,
  });
  for (let killed = 0; ; killed += 1) {
    const command = day.folder.start(runArguments);
    if (killed < kills) await killAt(chooseMoment(killed === 0), command, { service, ledger: day.ledger });
    const result = await command.ended;
    day.ledger.expectSound();
    day.arrivals.check();
    if (result.signal === null) {
      checkEnd(result);
      return killed;
    }
    expect(result.signal).toBe('SIGKILL');
  }

  function checkEnd(result: CommandResult): void {
    expect(result.stderr).not.toContain('unexpected');
    const counts = { read: day.records, duplicates: bookings / 40, rejected: bookings / 50 };
    expectReport(result, { exitCode: 0, state: 'succeeded', counts });
    day.arrivals.checkWhole(result.report, day.bookings);
    expect(day.ledger.dump().runs, 'one run, however often it was killed').toHaveLength(1);
  }
}

/** Kills the command in that moment, unless it ended before it came. */
async function killAt(
  moment: Moment,
  command: RunningCommand,
  { service, ledger }: { readonly service: Service; readonly ledger: LedgerWatch },
): Promise<void> {
  switch (moment.kind) {
    case 'time': {
      const over = new AbortController();
      const due = delay(moment.ms, undefined, { signal: over.signal }).catch(() => {});
      await Promise.race([due, command.ended]);
      over.abort();
      command.kill('SIGKILL');
      return;
    }
    case 'collected': {
      const { release } = await ledger.holdWhen(({ read }) => read >= moment.read);
      // What it does when the ledger is free again is a matter of chance.
      release();
      command.kill('SIGKILL');
      return;
    }
    case 'request':
      await Promise.race([service.killAt(moment, command), command.ended]);
  }
}

interface Service {
  readonly handler: StandInHandler;
  /** Kills the command with a request of its, counted from now on; comes back when that is done. */
  killAt(moment: Extract<Moment, { kind: 'request' }>, command: RunningCommand): Promise<void>;
}

/** Takes everything, each after a short while. */
function createService(): Service {
  let planned: { number: number; when: 'taken' | 'answered'; kill: () => void } | undefined;
  let arrived = 0;
  return {
    async handler(request) {
      await request.readBody();
      arrived += 1;
      const plan = planned?.number === arrived ? planned : undefined;
      if (plan?.when === 'taken') plan.kill();
      else await delay(answerMs);
      // When the answer was written to the connection.
      if (plan?.when === 'answered') setImmediate(plan.kill);
      return success;
    },
    killAt({ number, when }, command) {
      arrived = 0;
      return new Promise((resolve) => {
        planned = {
          number,
          when,
          kill() {
            command.kill('SIGKILL');
            resolve();
          },
        };
      });
    },
  };
}
