import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { masterIdOnly } from '../support/source-columns.js';

const guest = 'Ann Guest-Canary';

/** Reviews a day that a module reads. */
async function reviewByModule(
  code: string,
  { name = 'bookings.mjs', hasWorkers = false, asProcess = false } = {},
) {
  const source = { kind: 'module', path: name, columns: masterIdOnly };
  const { standIn, folder } = await prepareDay({ settings: { source }, hasWorkers });
  await writeFile(join(folder.path, name), code);
  return { standIn, folder, result: await folder.runDay({ asProcess }) };
}

describe("a day read by a user's module", () => {
  it.each([
    ['in the middle', 'await new Promise((resolve) => setTimeout(resolve, 60_000)); yield { ServiceId: 2 };'],
    ['at its very end', ''],
  ])('fails on an unhandled rejection %s, and does not show its message', async (_, then) => {
    const { standIn, result } = await reviewByModule(`export async function* bookings() {
      yield { ServiceId: 1 };
      lookUp();
      ${then}
    }
    async function lookUp() { throw new TypeError('${guest} has no hotel'); }`);
    expectReport(result, { exitCode: 1, state: 'failed' });
    expect(result.report.error?.message).toMatch(
      /bookings\.mjs failed while it read .*: TypeError at lookUp /,
    );
    expect(result.stderr).toMatch(/bookings\.mjs threw TypeError .*\n {4}at lookUp /);
    expect(`${result.stdout}${result.stderr}`).not.toContain('Canary');
    expect(standIn.requests).toEqual([]);
  });

  it('fails with a clear message when the module waits for something that can no longer happen', async () => {
    const { standIn, result } = await reviewByModule(
      `export async function* bookings() {
      yield { ServiceId: 1 };
      await new Promise(() => {});
    }`,
      { asProcess: true },
    );
    expectReport(result, { exitCode: 1, state: 'failed' });
    expect(result.report.error?.message).toContain('bookings waits for something that can no longer happen');
    expect(standIn.requests).toEqual([]);
  });

  it.each([
    ['while it reads', 'export async function* bookings() { yield { ServiceId: 1 }; process.exit(0); }'],
    ['when it is loaded', 'process.exit();'],
  ])(
    'does not succeed when the module exits the process %s, and the next run reads it again',
    async (_, code) => {
      const { standIn, folder, result } = await reviewByModule(code, { hasWorkers: true, asProcess: true });
      expect(result.exitCode).toBe(1);
      expect(result.stderr).toContain(`bookings.mjs: it ended the process while it read ${day}`);
      expect(standIn.requests).toEqual([]);

      await writeFile(
        join(folder.path, 'bookings.mjs'),
        'export async function* bookings() { yield { ServiceId: 1 }; }',
      );
      expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { delivered: 1 } });
    },
  );

  it("prints the module's output one line per message, without control sequences", async () => {
    const { result } = await reviewByModule(`export async function* bookings(day, { log }) {
      log.info('ritz: 3 bookings\\n${day}: run 1 failed');
      log.warn('\\u001b[2Jgrand: none\\r');
      log.info(undefined);
      log.info(Symbol('lobby'));
      throw new Error('that is all');
    }`);
    const said = result.stderr.split('\n').filter((line) => line.startsWith('bookings.mjs: '));
    expect(said.map((line) => line.slice('bookings.mjs: '.length))).toEqual([
      `ritz: 3 bookings ${day}: run 1 failed`,
      ' [2Jgrand: none ',
      'undefined',
      'Symbol(lobby)',
    ]);
  });

  it('ends after the last booking, even if the module leaves something open', async () => {
    const code = `setInterval(() => {}, 1_000);
    export async function* bookings() { yield { ServiceId: 1 }; }`;
    const { standIn, result } = await reviewByModule(code, { hasWorkers: true, asProcess: true });
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 1 } });
    expect(standIn.requests).toHaveLength(1);
  });

  it.each([
    ['bookings.cjs', 'exports.bookings = 1;\n\nconst a = { b: 1 ;', /can't be loaded: .*bookings\.cjs:3\)$/],
    ['bookings.ts', 'const a = 1;\n\nconst b: number = ;', /can't be loaded: .*bookings\.ts:3/],
    ['bookings.mjs', 'import { a } from "node:fs";', /can't be loaded: .*bookings\.mjs:1\)$/],
    [
      'bookings.mjs',
      'export const a = [;',
      /can't be loaded: .* \(`node --check \S+bookings\.mjs` shows where\)$/,
    ],
  ])('reports where its code is wrong: %s', async (name, code, words) => {
    const { result } = await reviewByModule(code, { name });
    expect(result.report.error?.message).toMatch(words);
  });

  it('prints the stack of an error thrown while the file is loaded', async () => {
    const { result } = await reviewByModule(`connect();
    function connect() { throw new RangeError('${guest}'); }
    export async function* bookings() {}`);
    expect(result.report.error?.message).toMatch(/bookings\.mjs can't be loaded: RangeError at connect /);
    expect(result.stderr).toMatch(/bookings\.mjs threw RangeError .*\n {4}at connect /);
    expect(result.stderr).not.toContain('Canary');
  });
});
