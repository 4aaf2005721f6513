import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { projectFile } from '../support/compose-file.js';
import { patienceMs } from '../support/patience.js';
import { type BuiltImage, buildWithoutEngine, readInstructions } from './docker-build.js';

const { version, devDependencies } = JSON.parse(projectFile('package.json'));
const lock = JSON.parse(projectFile('package-lock.json'));
const instructions = readInstructions();
const day = '2026-11-20';

describe('The Dockerfile', () => {
  it('pins its base images', () => {
    const images = instructions.filter(({ word }) => word === 'FROM').map(({ rest }) => rest.split(' ')[0]);
    expect(images).toHaveLength(2);
    expect(new Set(images).size).toBe(1);
    expect(images[0]).toMatch(/^node:\d+\.\d+-\w+-slim$/);
  });

  it('starts from a Node version that the package supports', () => {
    const image = instructions[0]?.rest ?? '';
    const [, major, minor] = /node:(\d+)\.(\d+)/.exec(image) ?? [];
    const [, neededMajor, neededMinor] =
      /(\d+)\.(\d+)/.exec(JSON.parse(projectFile('package.json')).engines.node) ?? [];
    expect(Number(major)).toBe(Number(neededMajor));
    expect(Number(minor)).toBeGreaterThanOrEqual(Number(neededMinor));
  });

  it('copies by name what .dockerignore lets through, so that no secret gets into a layer', () => {
    const [first, ...allowed] = projectFile('.dockerignore')
      .split('\n')
      .filter((line) => !/^(?:#|$)/.test(line));
    expect(first).toBe('*');
    const copied = instructions
      .filter(({ word, rest }) => word === 'COPY' && !rest.startsWith('--from='))
      .flatMap(({ rest }) => rest.split(' ').slice(0, -1));
    expect([...new Set(copied)].sort()).toEqual(allowed.map((line) => line.slice(1)).sort());
  });
});

describe('What the Dockerfile builds', () => {
  const needs = process.getuid?.() === 0 ? undefined : 'needs root, as an engine that builds images has it';
  beforeEach(({ skip }) => skip(needs !== undefined, needs));

  let image: BuiltImage;
  beforeAll(() => {
    if (needs === undefined) image = buildWithoutEngine();
  }, 600_000);
  afterAll(() => image?.remove(), 600_000);

  /** As a container would be started. */
  function start(args: readonly string[], env: Record<string, string> = {}, before: readonly string[] = []) {
    const { uid, gid, workdir: cwd, entrypoint } = image;
    const asUser = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--bounding-set=-all'];
    const [program = '', ...rest] = [...before, ...asUser, '--no-new-privs', ...entrypoint, ...args];
    const child = spawn(program, rest, {
      cwd,
      env: { PATH: process.env.PATH, ...image.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const written = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        written[name] += text;
      });
    const ended = once(child, 'close').then(([exitCode, signal]) => ({ exitCode, signal, ...written }));
    return { child, written, ended };
  }

  async function startSandbox(before: readonly string[] = []) {
    const sandbox = start(['sandbox', '--json', '--folder', image.at('/sandbox')], {}, before);
    await vi.waitUntil(() => sandbox.written.stdout.includes('\n'), { timeout: patienceMs });
    return { ...sandbox, configuration: JSON.parse(sandbox.written.stdout).configuration as string };
  }

  it('runs as a user that is not root and owns only its data folders', () => {
    expect(image.uid).toBe(1000);
    for (const path of ['/data', '/sandbox'])
      expect(statSync(image.at(path))).toMatchObject({ uid: 1000, gid: 1000, mode: 0o40700 });
    expect(statSync(image.at('/app/dist')).uid).toBe(0);
  });

  it('holds no dependency of development, and no second copy of a native part', () => {
    const installed = readdirSync(image.at('/app/node_modules'));
    // What the program needs as well is no dependency of development alone.
    const forDevelopment = Object.keys(devDependencies).filter(
      (name) => lock.packages[`node_modules/${name}`].dev === true,
    );
    expect(forDevelopment.length).toBeGreaterThan(10);
    for (const name of forDevelopment) {
      const [scope = ''] = name.split('/');
      // A scope's folder may hold others.
      if (installed.includes(scope))
        expect(existsSync(image.at(`/app/node_modules/${name}`)), name).toBe(false);
    }
    expect(readdirSync(image.at('/app/node_modules/@libsql'))).toHaveLength(1);
  });

  it('is small', () => {
    const { stdout } = spawnSync('du', ['--summarize', '--block-size=1M', image.at('/app')], {
      encoding: 'utf8',
    });
    expect(Number.parseInt(stdout, 10)).toBeLessThan(160);
  });

  it('says its version', async () => {
    expect(await start(['--version']).ended).toMatchObject({ exitCode: 0, stdout: `${version}\n` });
  });

  it.each(['body', 'file'])('reviews a day by %s', async (delivery) => {
    const { configuration, child, ended } = await startSandbox();
    const out = join(image.at('/sandbox'), `bookings-${day}.csv`);
    await start(['sandbox', 'bookings', '--day', day, '--count', '200', '--out', out]).ended;
    const run = ['replay', day, '--delivery', delivery, '--config', configuration, '--json'];
    const { exitCode, stdout, stderr } = await start(run).ended;
    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'succeeded', counts: { pending: 0 } });
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ exitCode: 0 });
  });

  it('stops on SIGTERM as process 1 of a container', async () => {
    const { child, ended } = await startSandbox(['unshare', '--pid', '--fork', '--kill-child']);
    const [first] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ');
    expect(readFileSync(`/proc/${first}/status`, 'utf8')).toMatch(/^NSpid:\t\d+\t1$/m);
    process.kill(Number(first), 'SIGTERM');
    expect(await ended).toMatchObject({ exitCode: 0, signal: null });
  });

  it.each([
    ['healthy', 200, 0],
    ['unhealthy', 503, 1],
  ])('is found %s when it answers %i', async (_what, status, exitCode) => {
    const server = createServer((request, response) => {
      response.writeHead(request.url === '/healthz' ? status : 404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    expect(await askForHealth((server.address() as AddressInfo).port)).toBe(exitCode);
    server.close();
    server.closeAllConnections();
    expect(await askForHealth((server.address() as AddressInfo | null)?.port ?? 9)).toBe(1);
  });

  async function askForHealth(port: number): Promise<number | null> {
    const [program = '', ...args] = image.healthcheck;
    const env = { PATH: process.env.PATH, ...image.env, HOTEL_REVIEW_HEALTH_PORT: String(port) };
    const [exitCode] = await once(spawn(program, args, { env, stdio: 'ignore' }), 'close');
    return exitCode;
  }
});
