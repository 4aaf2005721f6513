import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectFile } from '../../support/compose-file.js';

const context = fileURLToPath(new URL('../../../', import.meta.url));

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
}

/** What the Dockerfile builds, by the name of the stage. */
export interface BuiltImages {
  readonly production: BuiltImage;
  readonly trial: BuiltImage;
  remove(): void;
}

interface Stage {
  root: string;
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
 * temporary folder in place of its root. Node's image is reduced to what other stages copy: Node itself, and the users.
 *
 * @throws Error for an unknown instruction, and when a step fails
 */
export function buildWithoutEngine(): BuiltImages {
  const folder = mkdtempSync(join(tmpdir(), 'docker-build-'));
  // The image's user needs access.
  chmodSync(folder, 0o755);
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const { word, rest } of readInstructions()) {
    if (word === 'FROM') {
      const [, base = '', name = ''] = /^(\S+) AS (\w+)$/.exec(rest) ?? [];
      stage = startStage(join(folder, name), base, stages.get(base));
      stages.set(name, stage);
    } else if (stage !== undefined) perform(word, rest, stage, stages);
  }
  return {
    production: toImage(stages.get('production')),
    trial: toImage(stages.get('trial')),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function startStage(root: string, base: string, parent: Stage | undefined): Stage {
  if (parent !== undefined) {
    // Links instead of copies: no step changes a file in place.
    execFileSync('cp', ['--archive', '--link', parent.root, root]);
    return { ...parent, root, env: { ...parent.env } };
  }
  mkdirSync(root);
  if (base.startsWith('node:')) {
    for (const path of ['usr/local/bin', 'etc']) mkdirSync(join(root, path), { recursive: true });
    cpSync(process.execPath, join(root, 'usr/local/bin/node'));
    for (const path of ['etc/passwd', 'etc/group']) cpSync(`/${path}`, join(root, path));
  }
  return { root, workdir: '/', user: '0:0', entrypoint: [], healthcheck: [], env: {} };
}

function toImage(stage: Stage | undefined): BuiltImage {
  if (stage === undefined) throw new Error('the Dockerfile has no such stage');
  const { root, user, workdir, env, entrypoint, healthcheck } = stage;
  const [uid = Number.NaN, gid = Number.NaN] = user.split(':').map(Number);
  const at = (path: string) => join(root, path);
  return {
    ...{ at, uid, gid, workdir: at(workdir), healthcheck },
    env: { ...env, PATH: `${at('/usr/local/bin')}:${process.env.PATH}` },
    entrypoint: entrypoint.map((part) => (part.startsWith('/') ? at(part) : part)),
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
      for (const source of sources)
        copyInto(join(base, source), join(stage.root, resolve(stage.workdir, target)), target.endsWith('/'));
      return;
    }
    case 'RUN': {
      const command = rest.replaceAll(/(?<= )\//g, `${stage.root}/`);
      // This machine's npm settings, which may name a registry of its own, and npm's cache.
      const { PATH, npm_config_globalconfig } = process.env;
      const ofNpm = {
        npm_config_globalconfig,
        npm_config_cache: join(homedir(), '.npm'),
        npm_config_prefer_offline: 'true',
      };
      const env = { PATH, ...ofNpm, HOME: stage.root, ...stage.env };
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
    // Nothing is given, so each is empty.
    case 'ARG':
    case 'CMD':
      return;
    default:
      throw new Error(`the Dockerfile has an instruction that is not carried out here: ${word}`);
  }
}

function copyInto(source: string, target: string, isFolder: boolean): void {
  const isFile = statSync(source).isFile();
  mkdirSync(isFolder ? target : dirname(target), { recursive: true });
  cpSync(source, isFile && isFolder ? join(target, basename(source)) : target, {
    recursive: true,
    verbatimSymlinks: true,
  });
}
