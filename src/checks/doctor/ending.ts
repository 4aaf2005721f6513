import { makeVisible } from '../../base/foreign-text.js';

const graceMs = 100;

/**
 * Ends the process even if abandoned work would keep it alive. If that work ends by itself within a moment, so does the
 * process.
 *
 * Node can neither abandon a thread that waits for a file system nor deliver its exit code then. Only SIGKILL ends such
 * a process; a shell reports it as 137.
 */
export function endDespiteAbandonedWork(process: NodeJS.Process): void {
  setTimeout(() => void end(process), graceMs).unref();
}

async function end(process: NodeJS.Process): Promise<void> {
  const { stdout, stderr } = process;
  const isStuck = process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
  const words = isStuck ? 'a file system does not answer: only SIGKILL ends this process now\n' : '';
  await Promise.all([write(stdout, ''), write(stderr, words)]);
  if (isStuck) process.kill(process.pid, 'SIGKILL');
  else process.exit();
}

/** Resolves once everything written so far is flushed, or can't be. */
function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    stream.write(makeVisible(text), () => resolve());
  });
}
