import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Hops {
  /** The files with a function that is called between the beginning and the settling of a run of one booking. */
  readonly body: readonly string[];
  readonly file: readonly string[];
}

/**
 * Reviews one booking by body and one by file. The code is compiled but not bundled, so that each file can be told; the sandbox is
 * another process, so that only the product's own calls count.
 */
export async function traceOneBooking(root: string): Promise<Hops> {
  // Below the project, where the compiled code finds its packages.
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'size-'));
  const jobs = join(folder, 'dist/jobs');
  try {
    await run('npx', ['tsc', '-p', 'test/support/tsconfig.json', '--outDir', join(folder, 'dist')], {
      cwd: root,
    });
    await cp(join(root, 'package.json'), join(folder, 'package.json'));
    return await withSandbox(jobs, folder, async (configuration) => {
      const program = [
        '--import',
        'tsx',
        'test/project/size/one-booking.ts',
        join(jobs, 'main.js'),
        configuration,
      ];
      const { stdout } = await run(process.execPath, program, { cwd: root });
      return JSON.parse(stdout);
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function withSandbox<T>(
  jobs: string,
  folder: string,
  use: (configuration: string) => Promise<T>,
): Promise<T> {
  const options = ['sandbox', '--json', '--folder', join(folder, 'sandbox'), '--result-delay', '0.1'];
  const sandbox = spawn(process.execPath, [join(jobs, 'hotel-review.js'), ...options], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(sandbox, 'close');
  try {
    const [line] = await Promise.race([
      once(createInterface({ input: sandbox.stdout }), 'line'),
      ended.then(([code]) => Promise.reject(new Error(`the sandbox ended with ${code}`))),
    ]);
    return await use(JSON.parse(String(line)).configuration);
  } finally {
    sandbox.kill();
    await ended;
  }
}
