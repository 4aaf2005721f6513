import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const runFile = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

export interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A third-party project that has the packed tarball of this one among its dependencies. */
export interface PackedProject {
  /** Where the package is unpacked. */
  readonly packageFolder: string;
  write(file: string, text: string): Promise<void>;
  read(file: string): Promise<string>;
  /** @param options compiler options, over strict ones for Node */
  compile(files: readonly string[], options?: object): Promise<Ended>;
  /** @param env the whole environment: nothing is inherited */
  run(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended>;
  remove(): Promise<void>;
}

/**
 * Packs the build in `dist` as it is published, and installs it with its dependencies. It builds nothing, as other
 * tests use `dist` at the same time.
 */
export async function createPackedProject(): Promise<PackedProject> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'consumer-')));
  const modules = join(folder, 'node_modules');
  const packageFolder = join(modules, 'hotel-review');
  await mkdir(packageFolder, { recursive: true });

  const published = join(folder, 'published');
  execFileSync(process.execPath, ['ops/pack.js', `--out=${published}`], { cwd: root, stdio: 'pipe' });
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: published,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  execFileSync('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', packageFolder]);

  const { dependencies } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(root, 'node_modules', name), join(modules, name));
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));

  return {
    packageFolder,
    write: (file, text) => writeFile(join(folder, file), text),
    read: (file) => readFile(join(folder, file), 'utf8'),
    async compile(files, options = {}) {
      const compilerOptions = {
        target: 'ES2023',
        lib: ['ES2023'],
        module: 'NodeNext',
        types: ['node'],
        rootDir: '.',
        strict: true,
        skipLibCheck: false,
        ...options,
      };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
      return end([compiler, '-p', 'tsconfig.json'], folder, { PATH: process.env.PATH });
    },
    run: (args, env = {}) => end(args, folder, { PATH: process.env.PATH, ...env }),
    remove: () => rm(folder, { recursive: true }),
  };
}

async function end(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  try {
    const { stdout, stderr } = await runFile(process.execPath, args, { cwd, env });
    return { exitCode: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { exitCode: code, stdout, stderr };
  }
}
