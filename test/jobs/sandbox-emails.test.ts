import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { callCommand } from '../support/command.js';
import { callSandbox, createFolder, makeDayIn, runIn } from '../support/sandbox-command.js';

const config = ['--config', 'sandbox.yaml'];

async function readVerdicts(folder: string, reference: string): Promise<readonly string[]> {
  const { json } = await runIn(folder, 'show', reference, '--json', ...config);
  const { bookings } = json as { bookings: { verdict: string; state: string }[] };
  return bookings.filter(({ state }) => state === 'delivered').map(({ verdict }) => verdict);
}

it('the e-mails of the sandbox, in each of their forms, name the bookings that are wrong', async () => {
  const folder = await createFolder();
  const sandbox = await callSandbox(folder, '--email-form', 'turns');
  const { wrongReferences } = await makeDayIn(folder, '--count', '1600');
  expect((await runIn(folder, 'run', '--day', '2026-11-20', ...config)).exitCode).toBe(0);
  sandbox.kill('SIGINT');
  await sandbox.ended;
  const emails = (await readdir(join(folder, 'outbox', 'new'))).sort();
  expect(emails.length).toBeGreaterThanOrEqual(3);

  // The first by hand, as in docs/verdicts-and-cases.md; all of them are read from the folder.
  const first = await runIn(folder, 'verdicts', 'import', join('outbox', 'new', emails[0] ?? ''), ...config);
  expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/: names \d+ bookings?\n/) });
  const serve = callCommand(['serve', '--port', '0', ...config], { cwd: folder, env: {} });
  onTestFinished(() => serve.stop());
  for (let mail = 2; mail <= emails.length; mail += 1) await serve.wrote(`"mail":${mail},`);
  serve.stop('SIGTERM');
  expect((await serve.ended).exitCode).toBe(0);
  const { json } = await runIn(folder, 'verdicts', 'list', '--json', ...config);
  const { emails: read } = json as { emails: { from: string; outcome: string }[] };
  const places = emails.map((_, index) => (index === 0 ? 'file' : join(folder, 'outbox')));
  expect(read.map(({ from }) => from).sort()).toEqual(places.sort());
  expect(read.filter(({ outcome }) => outcome !== 'named')).toEqual([]);
  expect(wrongReferences.length).toBeGreaterThan(0);
  for (const reference of wrongReferences)
    expect([reference, await readVerdicts(folder, reference)]).toEqual([reference, ['incorrect']]);
  const others = ['BR-261120-1', 'BR-261120-2', 'BR-261120-3'].filter(
    (reference) => !wrongReferences.includes(reference),
  );
  for (const reference of others) expect(await readVerdicts(folder, reference)).not.toContain('incorrect');
});

it.each(['body', 'file'])('the sandbox names the canary of a run by %s in an e-mail', async (delivery) => {
  const folder = await createFolder();
  await callSandbox(folder);
  const file = join(folder, 'sandbox.yaml');
  const settings = (await readFile(file, 'utf8')).replace('# canary:', 'canary:');
  await writeFile(file, settings.replace('delivery: body', `delivery: ${delivery}`));
  await makeDayIn(folder, '--count', '20');
  const run = ['run', '--day', '2026-11-20', ...config];
  expect((await runIn(folder, ...run)).stdout).toContain('canary: sent, not named yet');
  const emails = (await readdir(join(folder, 'outbox', 'new'))).map((name) => join('outbox', 'new', name));
  expect((await runIn(folder, 'verdicts', 'import', ...emails, ...config)).exitCode).toBe(0);
  const { json } = await runIn(folder, 'status', '2026-11-20', '--json', ...config);
  expect(json).toMatchObject({ runs: [{ delivery, canary: { state: 'named', namedBy: 'email' } }] });
});
