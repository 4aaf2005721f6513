import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { RunningCommand } from '../support/command.js';
import { remoteFolder } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { patienceMs } from '../support/patience.js';
import { runArguments } from '../support/reviewed-day.js';
import { openSsh } from '../support/sftp-programs.js';
import { startForSuite } from '../support/use-servers.js';
import {
  killAndCheck,
  listNames,
  performerOf,
  prepareWatchedFileDay,
  untilDayEnded,
  untilTurn,
  type WatchedFileDay,
} from '../support/watched-file-day.js';
import { expectWhole } from '../support/whole-day.js';

const newServer = startForSuite(openSsh);
/** More than passes in one turn of the event loop, so that the proxy can stop midway. */
const bookings = 15_000;

it('a night by file whose processes are killed in mid-upload and in mid-call is whole, and calls once more', async () => {
  let caller: RunningCommand | undefined;
  const day = await prepareWatchedFileDay(newServer(), {
    bookings,
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
  const { release } = await day.holdWhen('upload', ({ state }) => state === 'running');
  await release();
  const uploader = await performerOf(day, 'upload');
  await untilTurn(uploader, () => measurePart(day) > 0);
  day.proxy.blackHole();
  expect([...(await killAndCheck(day, uploader)).keys()]).toEqual(['write']);
  expect(listNames(day.server.disk(remoteFolder))).toEqual([expect.stringMatching(/\.part$/)]);
  expect(measurePart(day)).toBeLessThan(day.file.length);
  day.proxy.heal();

  day.folder.processes.runBeside(uploader, () => day.folder.start(runArguments));
  await vi.waitUntil(() => caller?.hasEnded, { timeout: patienceMs, interval: 5 });
  if (!caller) throw new Error('there was no call');
  const recorded = await killAndCheck(day, caller);
  expect([...recorded.keys()]).toEqual(['write', 'upload']);
  await expectWhole(day, await untilDayEnded(day), { calls: 2, repeated: bookings, recorded });
});

/** The size of the upload under its temporary name; 0 while there is none. */
function measurePart({ server }: WatchedFileDay): number {
  const folder = server.disk(remoteFolder);
  const name = listNames(folder).find((found) => found.endsWith('.part')) ?? 'none';
  return statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
}
