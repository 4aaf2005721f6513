import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { csvOf } from '../support/made-bookings.js';
import { command } from '../support/sandbox-command.js';

/** @param isRead whether anybody reads the pipe of its standard output */
async function runIn(cwd: string, words: readonly string[], stdio: SpawnOptions['stdio'], isRead = true) {
  const child = spawn(process.execPath, [command, ...words], { cwd, stdio: stdio ?? 'pipe' });
  if (!isRead) child.stdout?.destroy();
  const said = child.stderr ?? child.stdout ?? Readable.from([]);
  const [written] = await Promise.all([text(said), once(child, 'close')]);
  return { exitCode: child.exitCode, written };
}

it('a command ends normally, without an error message, when nobody reads what it prints', async () => {
  const { folder } = await prepareDay({ bookings: csvOf(3) });
  for (const [words, exitCode] of [
    [['--help'], 0],
    [['run', day, '--quiet', '--json'], 0],
    [['sandbox', 'bookings', '--count', '100000'], 0],
    [['doctor', '--config', 'none.yaml'], 2],
  ] as const)
    expect([words, await runIn(folder.path, words, ['ignore', 'pipe', 'pipe'], false)]).toEqual([
      words,
      { exitCode, written: '' },
    ]);
});

it('on a full disk, a run sends the day although its report or log is lost, and no answer passes for a whole one', async () => {
  // A disk that is full.
  const full = await open('/dev/full', 'w');
  onTestFinished(() => full.close());
  const { folder, standIn } = await prepareDay({ bookings: csvOf(3) });
  const lost = "hotel-review: standard output can't be written (ENOSPC), so some of it is lost\n";
  const withoutOutput = (...words: string[]) => runIn(folder.path, words, ['ignore', full.fd, 'pipe']);

  expect(await withoutOutput('run', day)).toEqual({ exitCode: 0, written: expect.stringContaining(lost) });
  expect(standIn.accepted()).toHaveLength(3);
  expect(await withoutOutput('run', day, '--json')).toEqual({
    exitCode: 1,
    written: expect.stringContaining(lost),
  });
  expect(await withoutOutput('status')).toEqual({ exitCode: 1, written: lost });

  const logged = ['replay', day, '--log-level', 'debug'];
  expect((await runIn(folder.path, logged, ['ignore', 'pipe', full.fd])).exitCode).toBe(0);
  expect(standIn.accepted()).toHaveLength(6);
});
