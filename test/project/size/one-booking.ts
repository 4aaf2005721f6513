import { Session } from 'node:inspector';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type * as Main from '../../../jobs/main.js';
import { captureIo } from '../../support/command-io.js';

/**
 * Reviews days of one booking with the sandbox of this configuration, by body and by file, and prints the files with a function
 * that was called while a run went on: from the log's line of its beginning to that of its end. Each delivery is warmed up with
 * another day, so that what is loaded on demand is there.
 */
const [mainFile = '', configuration = ''] = process.argv.slice(2);
const root = `${dirname(dirname(mainFile))}/`;
const { io } = captureIo({ cwd: dirname(configuration), env: { PATH: process.env.PATH } });
const profiler = new Session();
profiler.connect();
profiler.post('Profiler.enable');
profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
const { main }: typeof Main = await import(pathToFileURL(mainFile).href);

/** @returns the files with a function that was called since the last time; a module's own code is none */
function takeCalledFiles(): readonly string[] {
  const called: string[] = [];
  // In the same thread, the answer comes before the call returns.
  profiler.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error) throw error;
    for (const { url, functions } of coverage.result) {
      const isCalled = functions.some(
        ({ ranges: [range] }) => range && range.startOffset > 0 && range.count > 0,
      );
      const path = url.startsWith('file:') ? fileURLToPath(url.replace(/\?.*/, '')) : '';
      if (isCalled && path.startsWith(root)) called.push(path.slice(root.length).replace(/\.js$/, '.ts'));
    }
  });
  return called.sort();
}

async function call(args: readonly string[], onLogLine: (line: string) => void = () => {}): Promise<void> {
  const written: string[] = [];
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      onLogLine(String(chunk));
      done();
    },
  }) as unknown as NodeJS.WriteStream;
  const code = await main(args, { ...io, stderr });
  if (code !== 0)
    throw new Error(`${args.join(' ')} ended with ${code}, having written:\n${written.join('')}`);
}

async function review(day: string, delivery: string): Promise<readonly string[]> {
  const file = join(io.cwd, `bookings-${day}.csv`);
  await call(['sandbox', 'bookings', '--day', day, '--count', '1', '--wrong-share', '0', '--out', file]);
  let called: readonly string[] = [];
  const run = ['run', '--config', configuration, '--day', day, '--delivery', delivery, '--log-level', 'info'];
  await call(run, (line) => {
    if (line.includes('"msg":"run opened"')) takeCalledFiles();
    if (line.includes('"msg":"run settled"')) called = takeCalledFiles();
  });
  if (called.length === 0) throw new Error(`the log of ${day} does not say when its run began and ended`);
  return called;
}

await review('2026-11-17', 'body');
await review('2026-11-18', 'file');
const hops = { body: await review('2026-11-19', 'body'), file: await review('2026-11-20', 'file') };
process.stdout.write(JSON.stringify(hops));
process.exit();
