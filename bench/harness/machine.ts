import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Results } from './results.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packages = ['csv-parse', 'csv-stringify', 'ssh2', 'ssh2-sftp-client', 'libsql', 'bullmq', 'autocannon'];
const programs: readonly (readonly [string, readonly string[]])[] = [
  ['python3', ['--version']],
  ['ssh', ['-V']],
  ['redis-server', ['--version']],
  ['psql', ['--version']],
];

export function describeMachine(): Results['machine'] {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    system: `${type()} ${release()}`,
    fileSystem: firstLine('stat', ['-f', '-c', '%T', tmpdir()]) ?? 'unknown',
  };
}

/** The versions of all packages and programs that are installed. */
export function listVersions(): Results['versions'] {
  const found: [string, string | undefined][] = [
    ['node', process.version],
    ...packages.map((name): [string, string | undefined] => [name, packageVersion(name)]),
    ...programs.map(([name, args]): [string, string | undefined] => [name, versionOf(name, args)]),
  ];
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** The short commit hash, with `+` if there are uncommitted changes. */
export function nameCommit(): string {
  const commit = firstLine('git', ['-C', root, 'rev-parse', '--short', 'HEAD']);
  if (commit === undefined) return 'unknown';
  // Ignores the results, which this benchmark writes itself.
  const isChanged = firstLine('git', [
    '-C',
    root,
    'status',
    '--porcelain',
    '--',
    'src',
    'jobs',
    'bench/*.ts',
  ]);
  return isChanged === undefined ? commit : `${commit}+`;
}

/** The first thing that looks like a version in a program's output. */
function versionOf(program: string, args: readonly string[]): string | undefined {
  return firstLine(program, args)?.match(/\d+\.[\w.-]+/)?.[0];
}

function packageVersion(name: string): string | undefined {
  try {
    const text = readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8');
    return (JSON.parse(text) as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** The first line of stdout and stderr; undefined if the program is missing, fails or prints nothing. */
function firstLine(program: string, args: readonly string[]): string | undefined {
  try {
    const said = execFileSync('sh', ['-c', '"$@" 2>&1', 'sh', program, ...args], { encoding: 'utf8' });
    return said.split('\n')[0]?.trim() || undefined;
  } catch {
    return undefined;
  }
}
