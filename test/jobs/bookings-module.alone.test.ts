import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { masterIdOnly } from '../support/source-columns.js';

/** Reviews a day that a module reads. */
async function reviewByModule(code: string, { asProcess = true } = {}) {
  const source = { kind: 'module', path: 'bookings.mjs', columns: masterIdOnly };
  const { standIn, folder } = await prepareDay({ settings: { source } });
  const write = (text: string) => writeFile(join(folder.path, 'bookings.mjs'), text);
  await write(code);
  return { standIn, folder, write, result: await folder.runDay({ asProcess }) };
}

it("a day fails when its module rejects unheard, waits for nothing, or ends the process, and shows no guest's name", async () => {
  const lookUp = "async function lookUp() { throw new TypeError('Ann Guest-Canary has no hotel'); }";
  const failures: readonly (readonly [code: string, words: RegExp])[] = [
    [
      `export async function* bookings() { yield { ServiceId: 1 }; lookUp(); await new Promise((end) => setTimeout(end, 60_000)); } ${lookUp}`,
      /bookings\.mjs failed while it read .*: TypeError at lookUp /,
    ],
    [
      `export async function* bookings() { yield { ServiceId: 1 }; lookUp(); } ${lookUp}`,
      /TypeError at lookUp /,
    ],
    [
      'export async function* bookings() { yield { ServiceId: 1 }; await new Promise(() => {}); }',
      /bookings waits for something that can no longer happen/,
    ],
  ];
  for (const [code, words] of failures) {
    const { standIn, result } = await reviewByModule(code, { asProcess: !code.includes('lookUp') });
    expectReport(result, { exitCode: 1, state: 'failed' });
    expect(result.report.error?.message).toMatch(words);
    expect(result.stdout + result.stderr).not.toContain('Canary');
    expect(standIn.requests).toEqual([]);
  }

  const ending = 'export async function* bookings() { yield { ServiceId: 1 }; process.exit(0); }';
  const { standIn, folder, write, result } = await reviewByModule(ending);
  expect(result.exitCode).toBe(1);
  expect(result.stderr).toContain(`bookings.mjs: it ended the process while it read ${day}`);
  expect(standIn.requests).toEqual([]);
  await write('export async function* bookings() { yield { ServiceId: 1 }; }');
  expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { delivered: 1 } });
});

it('a day ends after the last booking, whatever its module leaves open, and what the module says is one line each', async () => {
  const { standIn, result } = await reviewByModule(`setInterval(() => {}, 1_000);
    export async function* bookings(day, { log }) {
      log.info('ritz: 3 bookings\\n${day}: run 1 failed');
      log.warn('\\u001b[2Jgrand: none\\r');
      log.info(Symbol('lobby'));
      yield { ServiceId: 1 };
    }`);
  expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 1 } });
  expect(standIn.requests).toHaveLength(1);
  const said = result.stderr.split('\n').filter((line) => line.startsWith('bookings.mjs: '));
  expect(said.map((line) => line.slice('bookings.mjs: '.length))).toEqual([
    `ritz: 3 bookings ${day}: run 1 failed`,
    ' [2Jgrand: none ',
    'Symbol(lobby)',
  ]);
});
