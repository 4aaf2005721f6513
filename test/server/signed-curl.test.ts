import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { hookPath } from '../../src/server/hook.js';
import { renderSignedCurl } from '../../src/server/signed-curl.js';
import { secret } from './hook-calls.js';
import { createHookRuns, now, startServer, stopServers } from './some-server.js';

const run = promisify(execFile);
const hasCurl = spawnSync('curl', ['--version']).status === 0;
const needs = hasCurl ? '' : ' (needs curl: apt-get install curl)';

afterEach(stopServers);

async function startHook({ secrets = [] as string[], tokens = [] as string[] }) {
  const runs = createHookRuns();
  return { runs, ...(await startServer({ hook: { secrets, tokens, runs }, statuses: runs.statuses })) };
}

/** As it is pasted into a terminal. */
async function paste(command: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await run('bash', ['-c', command], { env: { ...process.env, no_proxy: '*', ...env } });
  return stdout;
}

describe.skipIf(!hasCurl)(`the curl for trying the hook${needs}`, () => {
  it('starts a run when it is pasted into a shell', async () => {
    const { url, runs } = await startHook({ secrets: [secret] });
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

  it('asks for yesterday when it has no day', async () => {
    const { url } = await startHook({ secrets: ['a plain secret'] });
    const command = renderSignedCurl({ url: url + hookPath, id: 'a', secret: 'a plain secret', at: now });
    expect(await paste(command)).toMatch(/202 .*"day":"2026-11-20"/s);
  });

  it("takes the token from the shell's variable", async () => {
    const { url, runs } = await startHook({ tokens: ['the-token'] });
    const command = renderSignedCurl({ url: url + hookPath, day: '2026-11-20', id: 'a', at: now });
    expect(await paste(command, { HOTEL_REVIEW_HOOK_TOKEN: 'the-token' })).toMatch(/^HTTP\/1\.1 202 /);
    expect(await paste(command, { HOTEL_REVIEW_HOOK_TOKEN: 'another' })).toMatch(/^HTTP\/1\.1 401 /);
    expect(runs.starts).toEqual([{ day: '2026-11-20', requestId: 'a' }]);
  });
});

it('The curl for trying the hook holds no secret', () => {
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
