import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { RunningCommand } from '../support/command.js';
import { day as businessDay } from '../support/day-folder.js';
import { engine, runsEveryCase } from '../support/engine.js';
import { remoteFolder, remotePath, resultPath } from '../support/file-day.js';
import type { FileCall } from '../support/file-service.js';
import { success } from '../support/http-stand-in.js';
import { isNightly } from '../support/nightly.js';
import { patienceMs } from '../support/patience.js';
import { createSeed } from '../support/processes.js';
import { runArguments } from '../support/reviewed-day.js';
import { openSsh } from '../support/sftp-programs.js';
import type { RunningSftpServer } from '../support/sftp-server.js';
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
/** Outside the nightly suite, one of them: the other steps are killed midway, which leaves the same in the ledger. */
const claimed: readonly FileStepName[] = isNightly ? steps : runsEveryCase ? ['archive'] : [];
type CallCase = [
  string,
  { readonly writesResult: boolean; readonly calls: number; readonly repeated: number },
];
const withResult: CallCase = [
  'its result is there, does not call again',
  { writesResult: true, calls: 1, repeated: 0 },
];
const withoutResult: CallCase = [
  'there is no result, calls once more',
  { writesResult: false, calls: 2, repeated: 60 },
];
/** More than passes in one turn of the event loop, so that the proxy can stop midway. */
const manyBookings = 15_000;
/** Enough for the step that writes them to be observed. */
const slowlyWritten = 50_000;

const writeResultAndSucceed = async (call: FileCall) => {
  await call.writeResult({ affected: ['BR-7'] });
  return success;
};

describe('a file delivery that is killed', () => {
  const newServer = startForSuite(openSsh);

  it('between any two steps resumes at the next one, and repeats nothing', async () => {
    const day = await prepareWatchedFileDay(newServer());
    // Nobody claims another step within twenty seconds.
    await day.folder.configure({ body: { requestsPerSecond: 0.05 } });
    day.folder.start(runArguments);
    const done = new Map<string, number>();
    for (const [index, name] of steps.slice(1).entries()) {
      done.set(steps[index] ?? '', 1);
      const { release } = await day.holdWhen(
        name,
        ({ state, attempts }) => state === 'ready' && attempts === 0,
      );
      const killed = day.folder.processes.pick(createSeed().random);
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
    it('after the rename and before that is recorded accepts the file there as its own', async () => {
      const day = await prepareWatchedFileDay(newServer());
      const { command, release } = await holdIn(day, 'upload');
      await untilTurn(
        command,
        () => statSync(day.server.disk(remotePath), { throwIfNoEntry: false }) !== undefined,
      );
      const recorded = await killAndCheck(day, command);
      await release();
      expect([...recorded.keys()]).toEqual(['write']);
      expect(day.listRemote()).toEqual(['20112026.csv']);
      await expectWhole(day, await untilDayEnded(day), { calls: 1, repeated: 0, recorded });
    });

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

  it.each(runsEveryCase ? [withResult, withoutResult] : [withoutResult])(
    'after the call arrived, unanswered, and %s',
    async (_, { writesResult, calls, repeated }) => {
      let caller: RunningCommand | undefined;
      const day = await prepareWatchedFileDay(newServer(), {
        async onCall(call) {
          if (call.number > 1 || writesResult) await call.writeResult();
          if (call.number > 1) return success;
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
      await expectWhole(day, await untilDayEnded(day), { calls, repeated, recorded });
    },
  );

  if (runsEveryCase) {
    it('after the file was written and before that is recorded writes it again identically', async () => {
      const day = await prepareWatchedFileDay(newServer(), { bookings: slowlyWritten });
      const { command, release } = await holdIn(day, 'write');
      const { runId } = await day.ledger.run();
      await untilTurn(command, () => listNames(day.spoolFolder).includes(`${runId}.csv`));
      const recorded = await killAndCheck(day, command);
      await release();
      expect(recorded).toEqual(new Map());
      await expectWhole(day, await untilDayEnded(day), { calls: 1, repeated: 0 });
    });

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

    // Like the kills before the rename, and before the answer: nothing of what is done is in the ledger.
    if (isNightly) {
      it('when all data is uploaded under the temporary name publishes a new upload', async () => {
        const day = await prepareWatchedFileDay(newServer());
        const command = await startUntil(day, 'upload');
        await untilTurn(command, () => measureTemporary(day) === day.file.length);
        day.proxy.blackHole();
        const recorded = await killAndCheck(day, command);
        expect(listNames(day.server.disk(remoteFolder))).toEqual([expect.stringMatching(/\.part$/)]);
        day.proxy.heal();
        await expectWhole(day, await untilDayEnded(day), { calls: 1, repeated: 0, recorded });
      });

      it.each([withResult, withoutResult])(
        'after the call was answered, unrecorded, and %s',
        async (_, { writesResult, calls, repeated }) => {
          const day = await prepareWatchedFileDay(newServer(), {
            async onCall(call) {
              if (call.number > 1 || writesResult) await call.writeResult();
              return success;
            },
          });
          const { command, release } = await holdIn(day, 'trigger');
          await day.standIn.received(1);
          // When the answer was written to the connection.
          await new Promise((resolve) => setImmediate(resolve));
          const recorded = await killAndCheck(day, command);
          await release();
          expect([...recorded.keys()]).toEqual(['write', 'upload']);
          await expectWhole(day, await untilDayEnded(day), { calls, repeated, recorded });
        },
      );
    }

    it('while it awaits the result finds the one that arrived meanwhile', async () => {
      const day = await prepareWatchedFileDay(newServer(), { onCall: () => success });
      day.folder.start(runArguments);
      const { release } = await day.holdWhen('await-result', ({ attempts }) => attempts >= 3);
      const recorded = await killAndCheck(day, day.folder.processes.pick(createSeed().random));
      await release();
      await day.service.calls[0]?.writeResult({ affected: ['BR-7'] });
      const result = await untilDayEnded(day);
      await expectWhole(day, result, { calls: 1, repeated: 0, recorded });
      expect(result.report.counts.affected).toBe(1);
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
      const part = join(day.spoolFolder, `${(await day.ledger.run()).runId}.result.csv.part`);
      await untilTurn(command, () => (statSync(part, { throwIfNoEntry: false })?.size ?? 0) > 0);
      const recorded = await killAndCheck(day, command);
      expect(statSync(part).size).toBeLessThan(day.file.length);
      expect([...recorded.keys()]).toEqual(['write', 'upload', 'trigger']);
      day.proxy.heal();
      await expectWhole(day, await untilDayEnded(day), { calls: 1, repeated: 0, recorded });
    });

    it('after the result arrived and before that is recorded checks it again', async () => {
      const day = await prepareWatchedFileDay(newServer());
      const { command, release } = await holdIn(day, 'await-result');
      await untilTurn(command, () => listNames(day.spoolFolder).some((name) => name.endsWith('.result.csv')));
      const recorded = await killAndCheck(day, command);
      await release();
      expect([...recorded.keys()]).toEqual(['write', 'upload', 'trigger']);
      await expectWhole(day, await untilDayEnded(day), { calls: 1, repeated: 0, recorded });
    });

    it('when the archive holds the files and the verdicts are not recorded records them', async () => {
      const day = await prepareWatchedFileDay(newServer(), { onCall: writeResultAndSucceed });
      const { command, release } = await holdIn(day, 'archive');
      const archive = await day.archiveFolder();
      await untilTurn(command, () => listNames(archive).includes('20112026_Result.csv'));
      const recorded = await killAndCheck(day, command);
      await release();
      expect([...recorded.keys()]).toEqual(['write', 'upload', 'trigger', 'await-result']);
      const result = await untilDayEnded(day);
      await expectWhole(day, result, { calls: 1, repeated: 0, recorded });
      expect(result.report.counts.affected).toBe(1);
    });

    it('when everything is archived and the spool is empty, but that is not recorded, records it', async () => {
      const { day, finishManifest, release } = await holdAtManifest(newServer());
      const command = await performerOf(day, 'archive');
      finishManifest();
      await untilTurn(command, () => listNames(day.spoolFolder).length === 0);
      const recorded = await killAndCheck(day, command);
      await release();
      expect([...recorded.keys()]).toEqual(['write', 'upload', 'trigger', 'await-result']);
      const result = await untilDayEnded(day);
      await expectWhole(day, result, { calls: 1, repeated: 0, recorded });
      expect(result.report.counts.affected).toBe(1);
    });

    type Moment = [string, (day: WatchedFileDay) => boolean];
    it.each<Moment>([
      ...(isNightly
        ? [['while it archives the earlier files', (day) => archivedBytes(day) > 0] satisfies Moment]
        : []),
      [
        'when the earlier result is removed from the server',
        (day) => !existsSync(day.server.disk(resultPath)),
      ],
    ])('as a replay, %s, loses nothing of the earlier run', async (_, isDue) => {
      const day = await prepareWatchedFileDay(newServer(), {
        bookings: manyBookings,
        onCall: writeResultAndSucceed,
      });
      expect((await day.folder.runDay()).exitCode).toBe(0);
      const earlier = readFileSync(day.server.disk(resultPath));
      const replay = day.folder.start(['replay', businessDay, '--json', ...engine.tracing]);
      await untilTurn(replay, () => isDue(day));
      day.proxy.blackHole();
      const recorded = await killAndCheck(day, await performerOf(day, 'upload'));
      expect([...recorded.keys()]).toEqual(['write']);
      day.proxy.heal();

      const kept = `earlier-${createHash('sha256').update(earlier).digest('hex').slice(0, 12)}-20112026_Result.csv`;
      const result = await untilDayEnded(day);
      await expectWhole(day, result, { calls: 2, repeated: 0, recorded, alsoArchived: [kept] });
      expect(readFileSync(join(await day.archiveFolder(), kept)).equals(earlier)).toBe(true);
      expect(result.report.trigger).toBe('replay');
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

/** Starts the run and holds the ledger while that step is in progress, so that its outcome can't be recorded. */
async function holdIn(
  day: WatchedFileDay,
  name: FileStepName,
): Promise<{ readonly command: RunningCommand; release(): Promise<void> }> {
  day.folder.start(runArguments);
  const { release } = await day.holdWhen(name, ({ state }) => state === 'running');
  return { command: await performerOf(day, name), release };
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

/**
 * Starts a run and holds the ledger when the verdicts are recorded and the manifest is being archived: the name of the
 * manifest is taken by a pipe, so that comparing it with what is there lasts until `finishManifest`.
 */
async function holdAtManifest(
  server: RunningSftpServer,
): Promise<{ readonly day: WatchedFileDay; finishManifest(): void; release(): Promise<void> }> {
  const day = await prepareWatchedFileDay(server, {
    async onCall(call) {
      const archive = await day.archiveFolder();
      mkdirSync(archive, { recursive: true, mode: 0o700 });
      execFileSync('mkfifo', [join(archive, 'manifest.json')]);
      return writeResultAndSucceed(call);
    },
  });
  day.folder.start(runArguments);
  await day.standIn.received(1);
  const archive = await day.archiveFolder();
  const manifest = join(archive, 'manifest.json');
  const pipe = await vi.waitUntil(() => openForReader(manifest), { timeout: patienceMs, interval: 5 });
  const { release } = await day.ledger.holdWhen(({ affected }) => affected > 0);
  return {
    day,
    finishManifest() {
      const unfinished = join(archive, listNames(archive).find((name) => name.startsWith('.')) ?? '');
      rmSync(manifest);
      linkSync(unfinished, manifest);
      writeSync(pipe, readFileSync(unfinished));
      closeSync(pipe);
    },
    release,
  };
}

/** Opens a pipe for writing; undefined while nobody reads from it. */
function openForReader(pipe: string): number | undefined {
  try {
    return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENXIO') return undefined;
    throw error;
  }
}

/** How much of the earlier files has been archived; 0 while there is nothing. */
function archivedBytes({ spoolFolder }: WatchedFileDay): number {
  const name = listNames(spoolFolder).find((found) => found.endsWith('.earlier.csv.part'));
  return (name && statSync(join(spoolFolder, name), { throwIfNoEntry: false })?.size) || 0;
}

/** The size of the upload under its temporary name; undefined while there is none. */
function measureTemporary({ server }: WatchedFileDay): number | undefined {
  const folder = server.disk(remoteFolder);
  const name = listNames(folder).find((found) => found.endsWith('.part'));
  return name === undefined ? undefined : statSync(join(folder, name), { throwIfNoEntry: false })?.size;
}
