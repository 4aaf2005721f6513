import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { csvOf } from '../support/made-bookings.js';
import { command } from '../support/sandbox-command.js';

/** A disk that is full. */
async function openFull(): Promise<FileHandle> {
  const full = await open('/dev/full', 'w');
  onTestFinished(() => full.close());
  return full;
}

async function runWithFull(cwd: string, words: readonly string[], lost: 'stdout' | 'stderr') {
  const full = await openFull();
  const child = spawn(process.execPath, [command, ...words], {
    cwd,
    stdio: ['ignore', ...(lost === 'stdout' ? [full.fd, 'pipe' as const] : ['pipe' as const, full.fd])],
  });
  const [said] = await Promise.all([
    text(child.stderr ?? child.stdout ?? Readable.from([])),
    once(child, 'close'),
  ]);
  return { exitCode: child.exitCode, said };
}

const lostLine = "hotel-review: standard output can't be written (ENOSPC), so some of it is lost\n";

it.each([
  ['its report', ['run', day], 'stdout', 0],
  ['its progress', ['run', day], 'stderr', 0],
  ['its log', ['run', day, '--log-level', 'debug'], 'stderr', 0],
  ['its JSON', ['run', day, '--json'], 'stdout', 1],
] as const)('run sends the day although %s cannot be written', async (_, words, lost, exitCode) => {
  const { folder } = await prepareDay({ bookings: csvOf(3) });
  const ended = await runWithFull(folder.path, words, lost);
  expect(ended.exitCode).toBe(exitCode);
  if (lost === 'stdout') expect(ended.said).toContain(lostLine);
  expect(ended.said).not.toMatch(/^ {4}at /m);
  expect((await folder.run(['status', day, '--json'])).json).toMatchObject({
    runs: [{ state: 'succeeded', counts: { delivered: 3 } }],
  });
});

it.each([
  [['status']],
  [['status', '--json']],
  [['cases', '--json']],
  [['--help']],
  [['run', day, '--dry-run']],
])('Without its answer, %j fails, and says so in a line', async (words) => {
  const { folder } = await prepareDay({ bookings: csvOf(3) });
  await folder.runDay();
  const { exitCode, said } = await runWithFull(folder.path, words, 'stdout');
  expect([exitCode, said.slice(-lostLine.length)]).toEqual([1, lostLine]);
  expect(said).not.toMatch(/^ {4}at /m);
});
