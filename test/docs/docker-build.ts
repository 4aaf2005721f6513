import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectFile } from '../support/compose-file.js';

const context = fileURLToPath(new URL('../../', import.meta.url));

/** What an image would contain, in a folder that stands for its root. */
export interface BuiltImage {
  /** The path on this disk of a path in the image. */
  at(path: string): string;
  readonly env: Readonly<Record<string, string>>;
  /** What a container would get: user, working folder, command and health check. */
  readonly uid: number;
  readonly gid: number;
  readonly workdir: string;
  readonly entrypoint: readonly string[];
  readonly healthcheck: readonly string[];
  remove(): void;
}

interface Stage {
  readonly root: string;
  workdir: string;
  user: string;
  entrypoint: readonly string[];
  healthcheck: readonly string[];
  readonly env: Record<string, string>;
}

/** The instructions of the Dockerfile, one per line, without comments. */
export function readInstructions(): { readonly word: string; readonly rest: string }[] {
  return projectFile('Dockerfile')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
      return { word, rest };
    });
}

/**
 * Executes the Dockerfile's steps with bash on this machine instead of in the stage's base image, each stage in a
 * temporary folder in place of its root.
 *
 * @throws Error for an unknown instruction, and when a step fails
 */
export function buildWithoutEngine(): BuiltImage {
  const folder = mkdtempSync(join(tmpdir(), 'docker-build-'));
  // The image's user needs access.
  chmodSync(folder, 0o755);
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const { word, rest } of readInstructions()) {
    if (word === 'FROM') {
      const root = join(folder, String(stages.size));
      mkdirSync(root);
      stage = { root, workdir: '/', user: '0:0', entrypoint: [], healthcheck: [], env: {} };
      stages.set(/ AS (\w+)$/.exec(rest)?.[1] ?? '', stage);
    } else if (stage !== undefined) perform(word, rest, stage, stages);
  }
  if (stage === undefined) throw new Error('the Dockerfile has no stage');
  const { root, user, workdir, env, entrypoint, healthcheck } = stage;
  const [uid = Number.NaN, gid = Number.NaN] = user.split(':').map(Number);
  const at = (path: string) => join(root, path);
  return {
    ...{ at, uid, gid, workdir: at(workdir), env, healthcheck },
    entrypoint: entrypoint.map((part) => (part.startsWith('/') ? at(part) : part)),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function perform(word: string, rest: string, stage: Stage, stages: ReadonlyMap<string, Stage>): void {
  const here = join(stage.root, stage.workdir);
  switch (word) {
    case 'WORKDIR':
      stage.workdir = rest;
      mkdirSync(join(stage.root, rest), { recursive: true });
      return;
    case 'COPY': {
      const [, from, paths = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(rest) ?? [];
      const [target = '', ...sources] = paths.split(' ').reverse();
      const base = from === undefined ? context : stages.get(from)?.root;
      if (base === undefined) throw new Error(`the Dockerfile has no stage ${from}`);
      for (const source of sources) copyInto(join(base, source), resolve(here, target), target.endsWith('/'));
      return;
    }
    case 'RUN': {
      const command = rest.replaceAll(/(?<= )\//g, `${stage.root}/`);
      // npm's settings of this machine, which has perhaps a registry of its own.
      const { PATH, npm_config_globalconfig } = process.env;
      const env = { PATH, npm_config_globalconfig, HOME: stage.root, ...stage.env };
      execFileSync('bash', ['-euc', command], { cwd: here, env, stdio: ['ignore', 'ignore', 'inherit'] });
      return;
    }
    case 'ENV': {
      const [name = '', value = ''] = rest.split('=');
      stage.env[name] = value;
      return;
    }
    case 'USER':
      stage.user = rest;
      return;
    case 'ENTRYPOINT':
      stage.entrypoint = JSON.parse(rest);
      return;
    case 'HEALTHCHECK':
      stage.healthcheck = JSON.parse(rest.slice(rest.indexOf('[')));
      return;
    case 'CMD':
      return;
    default:
      throw new Error(`the Dockerfile has an instruction that is not carried out here: ${word}`);
  }
}

function copyInto(source: string, target: string, isFolder: boolean): void {
  const isFile = statSync(source).isFile();
  cpSync(source, isFile && isFolder ? join(target, basename(source)) : target, {
    recursive: true,
    verbatimSymlinks: true,
  });
}
