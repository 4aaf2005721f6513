import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { command, createFolder } from '../support/sandbox-command.js';

it.each([
  ['the findings of doctor', ['doctor', '--config', 'none.yaml'], 2],
  ['the contents of a made-up day', ['sandbox', 'bookings', '--out', 'day.csv'], 0],
  ['its bookings', ['sandbox', 'bookings', '--count', '100000'], 0],
  ['help', ['--help'], 0],
])(
  'A command ends normally, without an error message, when nobody reads %s',
  async (_what, words, exitCode) => {
    const child = spawn(process.execPath, [command, ...words], {
      cwd: await createFolder(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect({ exitCode: child.exitCode, stderr }).toEqual({ exitCode, stderr: '' });
  },
);
