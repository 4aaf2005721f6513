import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectError } from '../support/expectations.js';
import { csvOf } from '../support/made-bookings.js';

const later = '2026-11-21';

it('with a folder that lost its keys nothing is sent or made, until it is restored or the keys are given up', async () => {
  const { folder, standIn } = await prepareDay({ settings: { keys: './keys' } });
  for (const each of [day, later]) await folder.writeBookings(csvOf(20), each);
  expect((await folder.run(['run', day])).exitCode).toBe(0);
  const [keys, backup] = [join(folder.path, 'keys'), join(folder.path, 'backup')];
  const forget = ['guest', 'purge', '--forget-key', day, '--json'];
  expectError(await folder.run(forget), {
    exitCode: 2,
    class: 'usage',
    message: new RegExp(`the key of ${day} is in ${keys}`),
  });
  await rename(keys, backup);

  const sent = standIn.requests.length;
  const message = new RegExp(
    `there are no keys in ${keys}, .*restore the folder from its backup, .*guest purge --forget-key ${day}`,
  );
  for (const command of [
    ['run', later],
    ['show', 'BR-2'],
  ])
    expectError(await folder.run([...command, '--json']), { exitCode: 2, class: 'configuration', message });
  expect((await folder.run(['status'])).exitCode).toBe(0);
  expect(standIn.requests).toHaveLength(sent);
  expect((await folder.run(['doctor', '--json'])).json).toMatchObject({
    findings: expect.arrayContaining([
      { part: 'keys', verdict: 'wrong', message: expect.stringMatching(message) },
    ]),
  });
  expect(await readdir(folder.path)).not.toContain('keys');

  await rename(backup, keys);
  expect((await folder.run(['show', 'BR-2'])).exitCode).toBe(0);
  await rm(keys, { recursive: true });
  expect(await folder.run([...forget, '--dry-run'])).toMatchObject({ json: { dryRun: true, day } });
  expect((await folder.run(['run', later])).exitCode).toBe(2);
  expect(await folder.run(forget)).toMatchObject({ exitCode: 0, json: { dryRun: false, day } });
  expect((await folder.run(['run', later])).exitCode).toBe(0);
  expect((await folder.run(['audit', '--json'])).json).toMatchObject({
    entries: expect.arrayContaining([
      expect.objectContaining({ action: 'keys-forget', subject: day, details: { dryRun: false } }),
    ]),
  });
});
