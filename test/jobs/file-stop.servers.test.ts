import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandResult } from '../support/command.js';
import { day as businessDay } from '../support/day-folder.js';
import { runsEveryCase } from '../support/engine.js';
import { expectReport } from '../support/expectations.js';
import { remoteFolder } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { runArguments } from '../support/reviewed-day.js';
import { openSsh } from '../support/sftp-programs.js';
import { startForSuite } from '../support/use-servers.js';
import {
  listNames,
  prepareWatchedFileDay,
  untilTurn,
  type WatchedFileDay,
} from '../support/watched-file-day.js';
import { expectWhole } from '../support/whole-day.js';

const resumeCommand = `run --day ${businessDay}`;

describe('a day by file, asked to stop', () => {
  const newServer = startForSuite(openSsh);

  it('by SIGINT while the result is awaited ends with 3, and the next run fetches it', async () => {
    const day = await prepareWatchedFileDay(newServer(), { onCall: () => success });
    day.folder.start(runArguments);
    const { release } = await day.holdWhen('await-result', ({ attempts }) => attempts >= 2);
    await release();
    const stopped = await stop(day, 'SIGINT');
    expectReport(stopped, { exitCode: 3, state: 'awaiting-result', counts: { delivered: 60 } });
    expect(stopped.stderr).toContain(resumeCommand);

    await day.service.calls[0]?.writeResult();
    const recorded = await day.recorded();
    expect([...recorded.keys()]).toEqual(['write', 'upload', 'trigger']);
    await expectWhole(day, await day.folder.runDay(), { calls: 1, repeated: 0, recorded });
  });

  if (runsEveryCase) {
    it('by SIGTERM in a stalled upload ends with 1, and the next run uploads again', async () => {
      const day = await prepareWatchedFileDay(newServer(), { bookings: 15_000 });
      const command = day.folder.start(runArguments);
      const { release } = await day.holdWhen('upload', ({ state }) => state === 'running');
      await release();
      const folder = day.server.disk(remoteFolder);
      const sizes = () =>
        listNames(folder).map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
      await untilTurn(command, () => sizes().some((size) => size > 0));
      day.proxy.blackHole();
      const stopped = await stop(day, 'SIGTERM');
      expectReport(stopped, { exitCode: 1, state: 'delivering', counts: { delivered: 0, pending: 15_000 } });
      expect(stopped.stderr).toContain(resumeCommand);
      expect(await day.ledger.attempts()).toContainEqual({
        step: 'upload',
        outcome: 'interrupted',
        code: 'stopped',
      });
      expect(listNames(folder)).toEqual([expect.stringMatching(/\.part$/)]);

      day.proxy.heal();
      const recorded = await day.recorded();
      expect([...recorded.keys()]).toEqual(['write']);
      await expectWhole(day, await day.folder.runDay(), { calls: 1, repeated: 0, recorded });
    });

    it('by SIGTERM in a progressing upload lets it finish, and leaves no temporary name', async () => {
      const day = await prepareWatchedFileDay(newServer());
      day.folder.start(runArguments);
      const { release } = await day.holdWhen('upload', ({ state }) => state === 'running');
      await release();
      const stopped = await stop(day, 'SIGTERM');
      expectReport(stopped, { exitCode: 1, state: 'delivering', counts: { delivered: 0 } });
      expect(day.listRemote()).toEqual(['20112026.csv']);
      expect(day.service.calls).toEqual([]);

      const recorded = await day.recorded();
      expect([...recorded.keys()]).toEqual(['write', 'upload']);
      await expectWhole(day, await day.folder.runDay(), { calls: 1, repeated: 0, recorded });
    });
  }
});

function stop({ folder }: WatchedFileDay, signal: NodeJS.Signals): Promise<CommandResult> {
  folder.processes.signal(signal);
  return folder.processes.ended();
}
