import { describe, it, vi } from 'vitest';
import type { CommandResult } from '../support/command.js';
import { attemptCodes, expectReport } from '../support/expectations.js';
import { success } from '../support/http-stand-in.js';
import { patienceMs } from '../support/patience.js';
import { runArguments } from '../support/reviewed-day.js';
import { openSsh } from '../support/sftp-programs.js';
import { startForSuite } from '../support/use-servers.js';
import { prepareWatchedFileDay, type WatchedFileDay } from '../support/watched-file-day.js';
import { expectWhole } from '../support/whole-day.js';

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  const newServer = startForSuite(openSsh);

  it('between two checks for the result does not wait for the next one', async () => {
    const day = await prepareWatchedFileDay(newServer(), {
      settings: { file: { resultPollSeconds: 600 } },
      onCall: () => success,
    });
    day.folder.start(runArguments);
    await vi.waitUntil(async () => (await attemptCodes(day.ledger, 'await-result')).length > 0, {
      timeout: patienceMs,
      interval: 10,
    });
    const stopped = await stop(day, signal);
    expectReport(stopped, { exitCode: 3, state: 'awaiting-result' });

    await day.service.calls[0]?.writeResult();
    await expectWhole(day, await day.folder.runDay(), { calls: 1, repeated: 0 });
  });
});

function stop({ folder }: WatchedFileDay, signal: NodeJS.Signals): Promise<CommandResult> {
  folder.processes.signal(signal);
  return folder.processes.ended();
}
