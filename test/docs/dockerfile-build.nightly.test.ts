import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { projectFile } from '../support/compose-file.js';
import { patienceMs } from '../support/patience.js';
import { type BuiltImage, type BuiltImages, buildWithoutEngine } from './docker-build.js';

const { version, devDependencies } = JSON.parse(projectFile('package.json'));
const lock = JSON.parse(projectFile('package-lock.json'));
const day = '2026-11-20';

describe('What the Dockerfile builds', () => {
  const needs = process.getuid?.() === 0 ? undefined : 'needs root, as an engine that builds images has it';
  beforeEach(({ skip }) => skip(needs !== undefined, needs));

  let images: BuiltImages;
  beforeAll(() => {
    if (needs === undefined) images = buildWithoutEngine();
  }, 600_000);
  afterAll(() => images?.remove(), 600_000);

  /** As a container would be started. */
  function start(image: BuiltImage, args: readonly string[], before: readonly string[] = []) {
    const { uid, gid, workdir: cwd, entrypoint, env } = image;
    const asUser = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--bounding-set=-all'];
    const [program = '', ...rest] = [...before, ...asUser, '--no-new-privs', ...entrypoint, ...args];
    const child = spawn(program, rest, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
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
    const { trial } = images;
    const sandbox = start(trial, ['sandbox', '--json', '--folder', trial.at('/sandbox')], before);
    await vi.waitUntil(() => sandbox.written.stdout.includes('\n'), { timeout: patienceMs });
    return { ...sandbox, configuration: JSON.parse(sandbox.written.stdout).configuration as string };
  }

  const owned = [
    ['production', '/data'],
    ['trial', '/data'],
    ['trial', '/sandbox'],
  ] as const;
  it.each(owned)('runs %s as a user that is not root and owns its data folder %s', (name, path) => {
    const image = images[name];
    expect(image.uid).toBe(1000);
    expect(statSync(image.at(path))).toMatchObject({ uid: 1000, gid: 1000, mode: 0o40700 });
    expect(statSync(image.at('/app/dist')).uid).toBe(0);
  });

  it('has no sandbox in production, and says so', async () => {
    const { production, trial } = images;
    const search = (image: BuiltImage) =>
      spawnSync('grep', ['--recursive', '--files-with-matches', 'sandbox-password', image.at('/app/dist')], {
        encoding: 'utf8',
      }).stdout;
    expect(search(trial)).not.toBe('');
    expect(search(production)).toBe('');
    expect(existsSync(production.at('/sandbox'))).toBe(false);
    for (const args of [['sandbox'], ['sandbox', 'bookings', '--day', day]])
      expect(await start(production, args).ended).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('the sandbox is not part of this installation'),
      });
  });

  it('holds no development dependency, no second copy of a native part, and no package manager', () => {
    const { production: image } = images;
    const installed = readdirSync(image.at('/app/node_modules'));
    // What the program needs, too, is not only a development dependency.
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
    expect(readdirSync(image.at('/usr/local/bin'))).toEqual(['node']);
  });

  it('lists the packages that it holds, and their licences', () => {
    const { production: image } = images;
    const { components } = JSON.parse(readFileSync(image.at('/app/sbom.cdx.json'), 'utf8'));
    const names = new Set<string>(components.map(({ name }: { name: string }) => name));
    const held = Object.keys(lock.packages)
      .filter((path) => path !== '' && existsSync(image.at(`/app/${path}`)))
      .map((path) => path.split('node_modules/').at(-1) ?? '');
    expect(held.length).toBeGreaterThan(100);
    expect([...names].sort()).toEqual([...new Set(held)].sort());
    expect(readFileSync(image.at('/app/licences.txt'), 'utf8')).toMatch(/^pino@[\d.]+ {2}MIT$/m);
  });

  it('is small', () => {
    const { stdout } = spawnSync('du', ['--summarize', '--block-size=1M', images.production.at('/app')], {
      encoding: 'utf8',
    });
    expect(Number.parseInt(stdout, 10)).toBeLessThan(160);
  });

  it('says its version', async () => {
    expect(await start(images.production, ['--version']).ended).toMatchObject({
      exitCode: 0,
      stdout: `${version} (built without git: the commit is unknown)\n`,
    });
  });

  it.each(['body', 'file'])('reviews a day by %s', async (delivery) => {
    const { configuration, child, ended } = await startSandbox();
    const out = join(images.trial.at('/sandbox'), `bookings-${day}.csv`);
    await start(images.trial, ['sandbox', 'bookings', '--day', day, '--count', '200', '--out', out]).ended;
    const run = ['replay', day, '--delivery', delivery, '--config', configuration, '--json'];
    const { exitCode, stdout, stderr } = await start(images.production, run).ended;
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
    const [program = '', ...args] = images.production.healthcheck;
    const env = { ...images.production.env, HOTEL_REVIEW_HEALTH_PORT: String(port) };
    const [exitCode] = await once(spawn(program, args, { env, stdio: 'ignore' }), 'close');
    return exitCode;
  }
});
