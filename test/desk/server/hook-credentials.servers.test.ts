import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createHookSecret, readKeys } from '../../../src/transports/http/webhook-signature.js';
import { readBlocks } from '../../project/docs/pages.js';
import { nextHookSecret, hookSecret as secret } from '../../support/hook-secrets.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { startHook } from './hook-calls.js';
import { now } from './some-server.js';

it("A hook's secret is created anew for each installation, and accepted", () => {
  const created = createHookSecret(randomBytes);
  expect(readKeys(created)[0]).toHaveLength(32);
  expect(createHookSecret(randomBytes)).not.toBe(created);
});

const run = promisify(execFile);
const missing = ['curl --version', 'openssl version'].filter(
  (command) => spawnSync('sh', ['-c', command]).status !== 0,
);
const needs = missing.length === 0 ? '' : ' (needs curl and openssl: apt-get install curl openssl)';

/** The lines of a page's block that call the hook, for a server at another address. */
function linesOf(page: string, address: string, { url }: { readonly url: string }): string {
  const block = readBlocks(page).find(({ text }) => text.includes('/hooks/end-of-day'))?.text ?? '';
  expect(block).toContain(address);
  return block.replaceAll(address, url);
}

/** As it is pasted into a terminal, at the server's time. */
async function paste(lines: string, env: Record<string, string>, cwd?: string): Promise<string> {
  const script = `date() { echo ${now / 1000}; }\n${lines}`;
  const { stdout } = await run('bash', ['-c', script], {
    cwd,
    env: { ...process.env, no_proxy: '*', ...env },
  });
  return stdout;
}

describe.skipIf(missing.length > 0)(`The call of the hook that a page shows${needs}`, () => {
  it('is signed, and repeats nothing', async () => {
    const server = await startHook();
    const lines = linesOf('docs/service.md', 'https://review.example.com', server);
    expect(await paste(lines, { HOTEL_REVIEW_HOOK_SECRET: nextHookSecret })).toMatch(/^HTTP\/1\.1 401 /);
    const env = { HOTEL_REVIEW_HOOK_SECRET: secret };
    expect(await paste(lines, env)).toMatch(/^HTTP\/1\.1 202 .*"day":"2026-11-20"/s);
    expect(await paste(lines, env)).toMatch(/^HTTP\/1\.1 200 /);
    expect(server.runs.starts).toEqual([{ day: '2026-11-20', requestId: `try-${now / 1000}` }]);
  });

  it('takes the secret of the containers as a token', async () => {
    const server = await startHook();
    const folder = makeTemporaryFolder();
    await mkdir(join(folder, 'secrets'));
    await writeFile(join(folder, 'secrets', 'hook-secret'), `${secret}\n`);
    const lines = linesOf('docs/deploying.md', 'http://127.0.0.1:8080', server);
    const call = lines.split('\n').find((line) => line.startsWith('curl ')) ?? '';
    expect(await paste(call, { day: '2026-11-20' }, folder)).toMatch(/^HTTP\/1\.1 202 /);
    expect(server.runs.starts).toMatchObject([{ day: '2026-11-20' }]);
  });
});
