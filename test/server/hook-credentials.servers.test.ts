import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { renderSignedCurl } from '../../jobs/hook.js';
import { hookPath } from '../../src/desk/server/hook.js';
import { createHookSecret, readKeys } from '../../src/transports/http/webhook-signature.js';
import { plainHookSecret, hookSecret as secret } from '../support/hook-secrets.js';
import { createHookRuns, now, startServer, stopServers } from './some-server.js';

it("A hook's secret is created anew for each installation, and accepted", () => {
  const created = createHookSecret(randomBytes);
  expect(readKeys(created)[0]).toHaveLength(32);
  expect(createHookSecret(randomBytes)).not.toBe(created);
});

const run = promisify(execFile);
const hasCurl = spawnSync('curl', ['--version']).status === 0;
const needs = hasCurl ? '' : ' (needs curl: apt-get install curl)';

afterEach(stopServers);

async function startHook(known = secret) {
  const runs = createHookRuns();
  return { runs, ...(await startServer({ hook: { secret: known, runs }, ledger: runs.ledger })) };
}

/** As it is pasted into a terminal. */
async function paste(command: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await run('bash', ['-c', command], { env: { ...process.env, no_proxy: '*', ...env } });
  return stdout;
}

describe.skipIf(!hasCurl)(`the curl for trying the hook${needs}`, () => {
  it('starts a run when it is pasted into a shell', async () => {
    const { url, runs } = await startHook();
    const command = renderSignedCurl({
      url: url + hookPath,
      day: '2026-11-20',
      id: "it's $(me) \\",
      secret,
      at: now,
    });
    expect(await paste(command)).toMatch(/^HTTP\/1\.1 400 /);
    const good = renderSignedCurl({
      url: url + hookPath,
      day: '2026-11-20',
      id: "it's-$(me)\\",
      secret,
      at: now,
    });
    expect(await paste(good)).toMatch(/^HTTP\/1\.1 202 .*"day":"2026-11-20"/s);
    expect(runs.starts).toEqual([{ day: '2026-11-20', requestId: "it's-$(me)\\" }]);
    expect(await paste(good)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('requests yesterday without a day', async () => {
    const { url } = await startHook(plainHookSecret);
    const command = renderSignedCurl({ url: url + hookPath, id: 'a', secret: plainHookSecret, at: now });
    expect(await paste(command)).toMatch(/202 .*"day":"2026-11-20"/s);
  });

  it("takes the secret from the shell's variable", async () => {
    const { url, runs } = await startHook();
    const command = renderSignedCurl({ url: url + hookPath, day: '2026-11-20', id: 'a', at: now });
    expect(await paste(command, { HOTEL_REVIEW_HOOK_SECRET: secret })).toMatch(/^HTTP\/1\.1 202 /);
    expect(await paste(command, { HOTEL_REVIEW_HOOK_SECRET: 'another' })).toMatch(/^HTTP\/1\.1 401 /);
    expect(runs.starts).toEqual([{ day: '2026-11-20', requestId: 'a' }]);
  });
});

it('The curl command for trying the hook contains no secret', () => {
  const url = `http://127.0.0.1:8080${hookPath}`;
  const command = renderSignedCurl({ url, day: '2026-11-20', id: 'msg_1', secret, at: now });
  expect(command).not.toContain(secret.slice('whsec_'.length));
  expect(
    command,
  ).toBe(`curl --silent --show-error --include --request POST http://127.0.0.1:8080/hooks/end-of-day \\
  --header 'content-type: application/json' \\
  --header 'webhook-id: msg_1' \\
  --header 'webhook-timestamp: 1795228200' \\
  --header 'webhook-signature: v1,b0Z2TzSxzZtc8RJdgowrnfXFK5VHRX8L0BElqKPJy/4=' \\
  --data-raw '{"day":"2026-11-20"}'`);
});
