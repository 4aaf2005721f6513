import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse as parseYaml } from 'yaml';
import { type RunningProgram, startProgram } from '../support/program.js';

const project = fileURLToPath(new URL('../../', import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
  scripts: { start: string };
};
const [, ...words] = scripts.start.split(' ');

/** The arguments that `npm start` gives to Node. */
export const startArguments: readonly string[] = words;
export const startFolder = project;

/** A temporary folder for the output of first runs only. */
export interface FirstRunPlace {
  readonly env: NodeJS.ProcessEnv;
  /** @param options as after `npm start --` */
  start(...options: readonly string[]): RunningProgram;
  /** The folders created so far, as absolute paths. */
  folders(): string[];
  remove(): void;
}

export function createFirstRunPlace(): FirstRunPlace {
  const parent = mkdtempSync(join(tmpdir(), 'first-run-test-'));
  const temporary = join(parent, 'tmp');
  mkdirSync(temporary);
  const env = { PATH: process.env.PATH, TMPDIR: temporary, npm_command: 'start' };
  return {
    env,
    start: (...options) =>
      startProgram(process.execPath, [...startArguments, ...options], { cwd: project, env }),
    folders: () => readdirSync(temporary).map((name) => join(temporary, name)),
    remove: () => rmSync(parent, { recursive: true }),
  };
}

interface SandboxConfiguration {
  readonly service: { readonly baseUrl: string };
  readonly file: { readonly sftp: { readonly port: number } };
}

/** The ports of the service and the SFTP server, read from the configuration that the sandbox wrote. */
export function readPorts(folder: string): readonly number[] {
  const text = readFileSync(join(folder, 'sandbox.yaml'), 'utf8');
  const { service, file } = parseYaml(text) as SandboxConfiguration;
  return [Number(new URL(service.baseUrl).port), file.sftp.port];
}
