import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import type { CommandIo } from '../../jobs/process.js';
import { captureStream } from './captured-stream.js';

/** Stands in for the process of a command that is called in this one, and keeps its output. */
export function captureIo(changes: Partial<Omit<CommandIo, 'stdout' | 'stderr'>> = {}) {
  const stdout = captureStream();
  const stderr = captureStream();
  const io: CommandIo = {
    stdin: toStdin(''),
    stdout: stdout.stream,
    stderr: stderr.stream,
    findLostOutput: async () => undefined,
    env: {},
    cwd: '/nowhere',
    user: 'tester',
    host: 'host',
    worker: 'host-1-test',
    temporaryFolder: tmpdir(),
    timeZone: 'UTC',
    signal: new AbortController().signal,
    halted: new AbortController().signal,
    ...changes,
  };
  return { io, stdout, stderr };
}

/** Standard input that is not a terminal. */
export function toStdin(text: string): NodeJS.ReadStream {
  const bytes = text === '' ? [] : [Buffer.from(text)];
  return Object.assign(Readable.from(bytes, { objectMode: false }), {
    isTTY: false,
  }) as unknown as NodeJS.ReadStream;
}
