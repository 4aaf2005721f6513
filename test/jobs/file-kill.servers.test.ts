import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { resultName } from '../../src/review/file/file-attempt.js';
import type { RunningCommand } from '../support/command.js';
import { runsEveryCase } from '../support/engine.js';
import { remoteFolder } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { isNightly } from '../support/nightly.js';
import { patienceMs } from '../support/patience.js';
import { runArguments } from '../support/reviewed-day.js';
import { seededRandom } from '../support/seed.js';
import { openSsh } from '../support/sftp-programs.js';
import { startForSuite } from '../support/use-servers.js';
import {
  type FileStepName,
  killAndCheck,
  listNames,
  performerOf,
  prepareWatchedFileDay,
  untilDayEnded,
  untilTurn,
  type WatchedFileDay,
} from '../support/watched-file-day.js';
import { expectWhole } from '../support/whole-day.js';

const steps: readonly FileStepName[] = ['write', 'upload', 'trigger', 'await-result', 'archive'];
/** By day, test/crash shows that. */
const claimed: readonly FileStepName[] = isNightly ? steps : [];
/** More than passes in one turn of the event loop, so that the proxy can stop midway. */
const manyBookings = 15_000;
/** Enough for the step that writes them to be observed. */
const slowlyWritten = 50_000;

describe('a file delivery that is killed', () => {
  const newServer = startForSuite(openSsh);

  it('between any two steps resumes at the next one, and repeats nothing', async () => {
    const day = await prepareWatchedFileDay(newServer());
    // Nobody claims another step within twenty seconds.
    await day.folder.configure({ body: { requestsPerSecond: 0.05 } });
    day.folder.start(runArguments);
    const random = seededRandom();
    const done = new Map<string, number>();
    for (const [index, name] of steps.slice(1).entries()) {
      done.set(steps[index] ?? '', 1);
      const { release } = await day.holdWhen(
        name,
        ({ state, attempts }) => state === 'ready' && attempts === 0,
      );
      const killed = day.folder.processes.pick(random);
      expect(await killAndCheck(day, killed)).toEqual(done);
      await release();
      day.folder.processes.runBeside(killed, () => day.folder.start(runArguments));
      await untilClaimed(day, name);
    }
    await expectWhole(day, await untilDayEnded(day), { calls: 1, repeated: 0, recorded: done });
  });

  it.each(claimed)('when %s was just claimed performs it, and repeats nothing before it', async (name) => {
    // A file of a few bookings is written too fast to observe.
    const day = await prepareWatchedFileDay(newServer(), name === 'write' ? { bookings: slowlyWritten } : {});
    day.folder.start(runArguments);
    const { release } = await day.holdWhen(name, ({ state }) => state === 'running');
    const recorded = await killAndCheck(day, await performerOf(day, name));
    await release();
    expect([...recorded.keys()]).toEqual(steps.slice(0, steps.indexOf(name)));
    await expectWhole(day, await untilDayEnded(day), { calls: 1, recorded });
    expect((await day.step(name)).attempts).toBe(2);
  });

  if (runsEveryCase) {
    it('after the last file step is recorded, while a batch is in flight, sends only that batch', async () => {
      let hangs = true;
      const day = await prepareWatchedFileDay(newServer(), {
        incompleteEvery: 6,
        async onPost(request) {
          await request.readBody();
          return hangs ? { kind: 'hang' } : success;
        },
      });
      day.folder.start(runArguments);
      const { release } = await day.holdWhen('archive', ({ state }) => state === 'done');
      const { runId } = await day.ledger.run();
      const sender = await day.folder.processes.performerOf({ runId, step: 'batch 0', attempt: 1 });
      hangs = false;
      const recorded = await killAndCheck(day, sender);
      await release();
      expect([...recorded.keys()].sort()).toEqual([...steps].sort());
      const result = await untilDayEnded(day);
      const batch = await day.step('batch 0');
      expect(batch.attempts).toBeGreaterThan(1);
      await expectWhole(day, result, { calls: 1, repeated: 10 * (batch.attempts - 1), recorded });
    });
  }

  it('after the call arrived, unanswered, and there is no result, calls once more', async () => {
    let caller: RunningCommand | undefined;
    const day = await prepareWatchedFileDay(newServer(), {
      async onCall(call) {
        if (call.number > 1) {
          await call.writeResult();
          return success;
        }
        caller = await performerOf(day, 'trigger');
        caller.kill('SIGKILL');
        return success;
      },
    });
    day.folder.start(runArguments);
    await vi.waitUntil(() => caller?.hasEnded, { timeout: patienceMs, interval: 5 });
    if (!caller) throw new Error('there was no call');
    const recorded = await killAndCheck(day, caller);
    expect([...recorded.keys()]).toEqual(['write', 'upload']);
    await expectWhole(day, await untilDayEnded(day), { calls: 2, repeated: 60, recorded });
  });

  if (runsEveryCase) {
    it('during the upload leaves a temporary name, which the next run removes', async () => {
      const day = await prepareWatchedFileDay(newServer(), { bookings: manyBookings });
      const command = await startUntil(day, 'upload');
      await untilTurn(command, () => (measureTemporary(day) ?? 0) > 0);
      day.proxy.blackHole();
      const recorded = await killAndCheck(day, command);
      expect(listNames(day.server.disk(remoteFolder))).toEqual([expect.stringMatching(/\.part$/)]);
      expect(measureTemporary(day)).toBeLessThan(day.file.length);
      day.proxy.heal();
      await expectWhole(day, await untilDayEnded(day), { calls: 1, repeated: 0, recorded });
    });

    it('in mid-download of the result restarts the download', async () => {
      let receivedBefore = Number.POSITIVE_INFINITY;
      const day = await prepareWatchedFileDay(newServer(), {
        bookings: manyBookings,
        async onCall(call) {
          receivedBefore = day.proxy.happened.bytesToClient;
          await call.writeResult();
          return success;
        },
      });
      // The download stops midway at any speed: client and server have megabytes in flight at a time.
      const isHalfway = () => day.proxy.happened.bytesToClient - receivedBefore > day.file.length / 2;
      day.proxy.beforePassing((to) => (to === 'client' && isHalfway() ? new Promise(() => {}) : undefined));
      const command = await startUntil(day, 'await-result');
      const part = join(
        day.spoolFolder,
        `${resultName({ id: (await day.ledger.run()).runId }, '20112026_Result.csv')}.part`,
      );
      await untilTurn(command, () => (statSync(part, { throwIfNoEntry: false })?.size ?? 0) > 0);
      const recorded = await killAndCheck(day, command);
      expect(statSync(part).size).toBeLessThan(day.file.length);
      expect([...recorded.keys()]).toEqual(['write', 'upload', 'trigger']);
      day.proxy.heal();
      await expectWhole(day, await untilDayEnded(day), { calls: 1, repeated: 0, recorded });
    });
  }
});

/** Starts the run and resolves, with the process that performs it, once that step is in progress. */
async function startUntil(day: WatchedFileDay, name: FileStepName): Promise<RunningCommand> {
  day.folder.start(runArguments);
  const { release } = await day.holdWhen(name, ({ state }) => state === 'running');
  await release();
  return performerOf(day, name);
}

/** Waits until a process performs this step, which is ready. */
async function untilClaimed(day: WatchedFileDay, name: FileStepName): Promise<void> {
  /** A process that was handed the step needs time to claim it; lifted then, the limit would let the next step pass too. */
  const claimMs = 8_000;
  let liftedAt = 0;
  const isClaimed = () =>
    day.ledger.whileHeld(async () => {
      if ((await day.step(name)).attempts > 0) return true;
      if (Date.now() - liftedAt < claimMs) return false;
      // Not once only: the old reference of a killed process may have taken the place of this step.
      await day.folder.liftRateLimit();
      liftedAt = Date.now();
      return false;
    });
  await vi.waitUntil(isClaimed, { timeout: patienceMs, interval: 200 });
}

/** The size of the upload under its temporary name; undefined while there is none. */
function measureTemporary({ server }: WatchedFileDay): number | undefined {
  const folder = server.disk(remoteFolder);
  const name = listNames(folder).find((found) => found.endsWith('.part'));
  return name === undefined ? undefined : statSync(join(folder, name), { throwIfNoEntry: false })?.size;
}
