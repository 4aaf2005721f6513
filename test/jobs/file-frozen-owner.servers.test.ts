import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunningCommand } from '../support/command.js';
import { engine, runsEveryCase } from '../support/engine.js';
import { remoteFolder, remotePath } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { isNightly } from '../support/nightly.js';
import { freeze } from '../support/processes.js';
import { runArguments } from '../support/reviewed-day.js';
import { openSsh } from '../support/sftp-programs.js';
import { startForSuite } from '../support/use-servers.js';
import {
  type FileStepName,
  listNames,
  performerOf,
  prepareWatchedFileDay,
  untilTurn,
  type WatchedFileDay,
} from '../support/watched-file-day.js';
import { expectWhole } from '../support/whole-day.js';

/** Outside the nightly suite, one: other tests here and of kills cover what differs for the others. */
const claimed: readonly FileStepName[] = isNightly
  ? ['write', 'upload', 'trigger', 'await-result', 'archive']
  : ['archive'];

describe('an owner of a file delivery that is frozen while its day is taken over', () => {
  const newServer = startForSuite(openSsh);

  it.each(claimed)('when it has just claimed %s: does nothing when it thaws', async (name) => {
    // A file of a few bookings is written too fast to observe.
    const day = await prepareWatchedFileDay(newServer(), name === 'write' ? { bookings: 50_000 } : {});
    day.folder.start(runArguments);
    // It is frozen outside of a transaction, as we hold the ledger.
    const { release } = await day.holdWhen(name, ({ state }) => state === 'running');
    const frozen = await performerOf(day, name);
    await freeze(frozen);
    await release();
    await expectFencedAfterTakeOver(day, frozen, { calls: 1 });
  });

  type Moment = [string, number, (size: number, whole: number) => boolean];
  it.each<Moment>([
    ['during the upload of its data', 15_000, (size) => size > 0],
    ...(runsEveryCase
      ? [['when all its data is uploaded', 60, (size, whole) => size === whole] satisfies Moment]
      : []),
  ])('%s: publishes nothing when it thaws', async (_, bookings, isDue) => {
    const day = await prepareWatchedFileDay(newServer(), { bookings });
    day.folder.start(runArguments);
    const { release } = await day.holdWhen('upload', ({ state }) => state === 'running');
    await release();
    const frozen = await performerOf(day, 'upload');
    await untilTurn(frozen, () => isDue(measureTemporary(day), day.file.length));
    await freeze(frozen);
    expect(existsSync(day.server.disk(remotePath))).toBe(false);
    await expectFencedAfterTakeOver(day, frozen, { calls: 1 });
  });

  it('while the new owner is working: makes no call and disturbs nothing', async () => {
    let answer = () => {};
    const isAnswered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const day = await prepareWatchedFileDay(newServer(), {
      async onCall(call) {
        await isAnswered;
        await call.writeResult();
        return success;
      },
    });
    day.folder.start(runArguments);
    const { release } = await day.holdWhen('upload', ({ state }) => state === 'running');
    const frozen = await performerOf(day, 'upload');
    await freeze(frozen);
    await release();
    await engine.endOwnership(day.folder);
    const owner = day.folder.processes.runBeside(frozen, () => day.folder.start(runArguments));
    await untilTurn(owner, () => day.service.calls.length === 1);
    await engine.expectFencedWhenWoken(frozen);
    expect(day.listRemote()).toEqual(['20112026.csv']);
    answer();
    await expectWhole(day, await owner.ended, { calls: 1, repeated: 0 });
  });

  if (runsEveryCase) {
    it('while the service has its call: gets the answer when it thaws, and records none of it', async () => {
      let answer = () => {};
      const isAnswered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const day = await prepareWatchedFileDay(newServer(), {
        async onCall(call) {
          if (call.number === 1) await isAnswered;
          else await call.writeResult();
          return success;
        },
      });
      const run = day.folder.start(runArguments);
      await untilTurn(run, () => day.service.calls.length === 1);
      const frozen = await performerOf(day, 'trigger');
      await freeze(frozen);
      await expectFencedAfterTakeOver(day, frozen, { calls: 2, beforeThaw: answer });
    });
  }
});

/** Another process finishes the day; then the first one thaws, and everything stays as it is. */
async function expectFencedAfterTakeOver(
  day: WatchedFileDay,
  frozen: RunningCommand,
  { calls, beforeThaw = () => {} }: { readonly calls: number; readonly beforeThaw?: () => void },
): Promise<void> {
  const { token } = await day.ledger.run();
  await engine.endOwnership(day.folder);
  const owner = day.folder.processes.runBeside(frozen, () => day.folder.start(runArguments));
  const result = await owner.ended;
  await expectWhole(day, result, { calls });
  expect((await day.ledger.run()).token).toBe(token + engine.tokensOfTakeOver);
  const before = await day.ledger.dump();
  const published = describePublished(day);
  beforeThaw();
  await engine.expectFencedWhenWoken(frozen);
  expect(await day.ledger.dump()).toEqual(before);
  expect(describePublished(day)).toEqual(published);
  await expectWhole(day, result, { calls });
}

/** The same file, not one that replaced it. */
function describePublished({ server }: WatchedFileDay) {
  const { ino, mtimeMs, size } = statSync(server.disk(remotePath));
  return { ino, mtimeMs, size };
}

/** The size of the upload under its temporary name; -1 while there is none. */
function measureTemporary({ server }: WatchedFileDay): number {
  const folder = server.disk(remoteFolder);
  const name = listNames(folder).find((found) => found.endsWith('.part'));
  return (name && statSync(join(folder, name), { throwIfNoEntry: false })?.size) || -1;
}
