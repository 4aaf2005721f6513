import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect } from 'vitest';
import { type CommandResult, callCommand, startCommand } from '../support/command.js';

export const day = '2026-11-20';
export const env = { PATH: process.env.PATH, TZ: 'Europe/Madrid' };

/** As another program would name and format them. */
export const bookings = Array.from({ length: 8 }, (_, at) => ({
  hotel_id: at + 10,
  reference: `BR-${at}`,
  guest_name: `Ada Lovelace ${at}`,
  supplier: 'Roomly',
  supplier_hotel_id: `00${at}`,
  arrival: `${at + 20}/11/2026`,
  departure: '30/11/2026',
}));
export const columns = Object.keys(bookings[0] ?? {});
export const csv = [columns, ...bookings.map((booking) => Object.values(booking))]
  .map((cells) => `${cells.join(';')}\n`)
  .join('');
export const query = `SELECT ${columns.join(', ')} FROM bookings WHERE booked_on = :day ORDER BY hotel_id`;

export const run = (
  cwd: string,
  args: readonly string[],
  own: NodeJS.ProcessEnv = {},
): Promise<CommandResult> => {
  // Amazon's SDK reads its variables from the process.
  const begin = 'AWS_ACCESS_KEY_ID' in own ? startCommand : callCommand;
  return begin(args, { cwd, env: { ...env, ...own } }).ended;
};
export const init = (cwd: string, args: readonly string[], own?: NodeJS.ProcessEnv) =>
  run(cwd, ['init', '--yes', '--day', day, ...args], own);
export const readText = (...path: string[]) => readFile(join(...path), 'utf8');
export const readVariables = async (folder: string) => parseEnv(await readText(folder, '.env'));
export const spaced = (text: string) => text.replaceAll(/\s+/g, ' ');

/** The five records are shown to people and programs, and a dry run understands the day. */
export async function expectUnderstood(
  folder: string,
  { exitCode, stdout, stderr }: CommandResult,
  { secrets = [], own = {} }: { secrets?: readonly string[]; own?: NodeJS.ProcessEnv } = {},
) {
  const output = spaced(stderr);
  expect({ exitCode, output }).toEqual({
    exitCode: 0,
    output: expect.stringContaining('understood, with names masked'),
  });
  expect(output).toContain('7 of the 7 fields found');
  for (const at of [0, 1, 2, 3, 4])
    expect(output).toContain(`${at + 10}, BR-${at}, ***, Roomly, 00${at}, 2026-11-${at + 20}, 2026-11-30`);
  expect(output).not.toContain('BR-5');
  const configuration = await readText(folder, 'hotel-review.yaml');
  for (const text of [stdout, stderr, configuration]) {
    expect(text).not.toMatch(/Ada|Lovelace/);
    for (const secret of secrets) expect(text).not.toContain(secret);
  }
  expect(configuration).not.toContain('BR-');
  expect((await stat(join(folder, '.env'))).mode & 0o777).toBe(0o600);
  const dryRun = await run(folder, ['run', '--day', day, '--dry-run', '--json'], own);
  expect(dryRun).toMatchObject({
    exitCode: 0,
    json: { counts: { read: 8, accepted: 8, rejected: 0 }, warnings: [] },
  });
  expect(dryRun.json).toHaveProperty('sample.0.CheckInDate', '2026-11-20');
}
