const lookEveryMs = 100;

/**
 * Has the process end as soon as its exit code is set, though something that was given up on still goes on: Node would
 * wait for it. Where that ends by itself before, so does the process.
 *
 * Node can't leave a thread behind that waits for a file system, nor hand over its exit code then: SIGKILL ends it, which
 * a shell tells as 137.
 */
export function endOnceTheCodeIsSet(process: NodeJS.Process): void {
  const timer = setInterval(() => {
    if (process.exitCode === undefined) return;
    clearInterval(timer);
    void end(process);
  }, lookEveryMs);
  timer.unref();
}

async function end(process: NodeJS.Process): Promise<void> {
  const { stdout, stderr } = process;
  const isStuck = process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
  const words = isStuck ? 'a file system does not answer: only SIGKILL ends this process now\n' : '';
  await Promise.all([write(stdout, ''), write(stderr, words)]);
  if (isStuck) process.kill(process.pid, 'SIGKILL');
  else process.exit();
}

/** Resolves when it and all before it is written, or can't be. */
function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    stream.write(text, () => resolve());
  });
}
