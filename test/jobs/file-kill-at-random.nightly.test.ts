import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RunningCommand } from '../support/command.js';
import { remotePath } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { runArguments } from '../support/reviewed-day.js';
import { seededRandom } from '../support/seed.js';
import { openSsh } from '../support/sftp-programs.js';
import type { RunningSftpServer } from '../support/sftp-server.js';
import { startForSuite } from '../support/use-servers.js';
import {
  type FileStepName,
  killAndCheck,
  prepareWatchedFileDay,
  type WatchedFileDay,
} from '../support/watched-file-day.js';
import { expectWhole } from '../support/whole-day.js';
import { watchPublishedFile } from './published-files.js';

/** Days are processed concurrently, one per lane. */
const lanes = 2;
const killsOfLane = 15;
/** After this many kills, a day is left to finish. */
const killsOfDay = 3;
const bookings = 400;
/** Every fourth booking is posted: ten batches beside the file. */
const incompleteEvery = 4;
const batchSize = 10;
const answerMs = 20;
/** From the call to its result: a killed run may call again before the result is there. */
const longestReviewMs = 1_500;
/** From the claim of a step: time for a connection and some work in it. */
const longestStepMs = 300;
const steps: readonly FileStepName[] = ['write', 'upload', 'trigger', 'await-result', 'archive'];

/** When a run is killed: this long after its start, or after it started that step. */
interface Moment {
  readonly after: 'start' | FileStepName;
  readonly ms: number;
}

describe('a file delivery that is killed at 30 random moments', () => {
  const newServer = startForSuite(openSsh);

  it('is whole in the end, and never shows a partial file', { timeout: 1_200_000 }, async () => {
    const startedAt = performance.now();
    const undisturbed = {
      kills: 0,
      random: () => 0,
      chooseMoment: (): Moment => ({ after: 'start', ms: 0 }),
    };
    expect(await reviewDay(newServer(), undisturbed)).toBe(0);
    const undisturbedMs = performance.now() - startedAt;

    const killed = await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        const random = seededRandom(lane);
        let killedInLane = 0;
        while (killedInLane < killsOfLane) {
          killedInLane += await reviewDay(newServer(), {
            random,
            kills: Math.min(killsOfDay, killsOfLane - killedInLane),
            chooseMoment: () => chooseMoment(random, undisturbedMs),
          });
        }
        return killedInLane;
      }),
    );
    expect(killed).toEqual(Array(lanes).fill(killsOfLane));
  });
});

function chooseMoment(random: () => number, undisturbedMs: number): Moment {
  const after = random() < 0.5 ? 'start' : (steps[Math.floor(random() * steps.length)] ?? 'start');
  return { after, ms: random() * (after === 'start' ? undisturbedMs : longestStepMs) };
}

/** Reviews a new day, killing its runs until one ends by itself; returns how many were killed. */
async function reviewDay(
  server: RunningSftpServer,
  {
    kills,
    random,
    chooseMoment,
  }: { readonly kills: number; readonly random: () => number; readonly chooseMoment: () => Moment },
): Promise<number> {
  /** Per call, in order: a repeated call gets its own result. */
  let results = Promise.resolve();
  const day = await prepareWatchedFileDay(server, {
    bookings,
    incompleteEvery,
    settings: { body: { batchSize } },
    async onCall(call) {
      await delay(answerMs);
      const isReady = delay(random() * longestReviewMs);
      results = results.then(() => isReady).then(() => call.writeResult());
      return success;
    },
    async onPost(request) {
      await request.readBody();
      await delay(answerMs);
      return success;
    },
  });
  const published = watchPublishedFile(server.disk(remotePath), day.file);
  let recorded: ReadonlyMap<string, number> = new Map();
  const { processes } = day.folder;
  let command = day.folder.start(runArguments);
  let killed = 0;
  while (killed < kills) {
    const victim = processes.pick(random);
    await untilMoment(chooseMoment(), command, day);
    if (command.hasEnded) break;
    const now = await killAndCheck(day, victim);
    for (const [name, attempts] of recorded) expect(now.get(name), `${name} not again`).toBe(attempts);
    recorded = now;
    if ((await victim.ended).signal === null) break;
    killed += 1;
    if (victim === command) command = day.folder.start(runArguments);
    else await processes.gather();
  }
  const result = await command.ended;
  await results;
  published.expectAlwaysWhole();
  const unclear = await day.unclearCalls();
  expect(day.service.calls.length).toBeLessThanOrEqual(1 + unclear);
  await expectWhole(day, result, { calls: day.service.calls.length, recorded });
  expect((await day.ledger.dump()).runs, 'one run, however often it was killed').toHaveLength(1);
  return killed;
}

/** Waits for that moment of the run, or for its end. */
async function untilMoment(
  { after, ms }: Moment,
  command: RunningCommand,
  day: WatchedFileDay,
): Promise<void> {
  const hasStarted = async () =>
    after === 'start' || ['running', 'done'].includes((await day.step(after)).state);
  while (!(await hasStarted()) && !command.hasEnded) await delay(1);
  const over = new AbortController();
  await Promise.race([delay(ms, undefined, { signal: over.signal }).catch(() => {}), command.ended]);
  over.abort();
}
