import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { verifyRun } from '../../../src/review/file/verify-run.js';
import type { Run } from '../../../src/rules/run.js';
import { judgedDay } from './server-day.js';

const inputName = '20112026.csv';
const resultName = '20112026_Result.csv';
const byTheRules = `${inputName}, by the file rules`;
const rendered = "the ledger's bookings, rendered again";
const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const otherChecksum = expect.stringMatching(/^expected the checksum [0-9a-f]{64}, got: [0-9a-f]{64}$/);

/** A run whose file and result are in the archive, with a manifest. */
async function archivedDay() {
  const day = await judgedDay();
  await day.archive();
  const change = async (name: string, from: string, to: string) => {
    const text = await readFile(day.archived(name), 'utf8');
    await writeFile(day.archived(name), text.replaceAll(from, to));
    return { before: hash(text), after: hash(text.replaceAll(from, to)) };
  };
  /** What differs, by item. */
  const findFaults = async (changes: Partial<Run> = {}) => {
    const items = await verifyRun(day.parts, { ...day.run(), ...changes });
    return Object.fromEntries(
      items.flatMap(({ item, fault }) => (fault === undefined ? [] : [[item, fault] as const])),
    );
  };
  return { ...day, change, findFaults };
}

type Day = Awaited<ReturnType<typeof archivedDay>>;

it.each<[string, (day: Day) => Promise<unknown>, object]>([
  ['nothing is changed', async () => {}, {}],
  [
    'the file as sent is, and none of its cells is shown',
    ({ archived }) => appendFile(archived(inputName), '100200,BR-9,null,hotelbeds,00123,20112026,23112026\n'),
    { [inputName]: otherChecksum, [byTheRules]: 'reads-as-null in row 6' },
  ],
  [
    'files are missing or cannot be read',
    async ({ archived }) => {
      await rm(archived(inputName));
      await rm(archived(resultName));
      await mkdir(archived(resultName));
    },
    {
      [inputName]: 'is not in the archive',
      [resultName]: "can't be read (unreadable)",
      [byTheRules]: 'is not in the archive',
    },
  ],
  [
    'the manifest is missing: there is nothing to compare with',
    ({ archived }) => rm(archived('manifest.json')),
    { 'manifest.json': 'is not in the archive' },
  ],
  [
    'the manifest is cut off',
    ({ archived }) => writeFile(archived('manifest.json'), '{"files": ['),
    { 'manifest.json': 'is not JSON' },
  ],
  ...['null', '{"files": [{}]}'].map((text): [string, (day: Day) => Promise<unknown>, object] => [
    `the manifest is ${text}`,
    ({ archived }) => writeFile(archived('manifest.json'), text),
    { 'manifest.json': 'is not a manifest' },
  ]),
  [
    'the result and the manifest are changed together',
    async ({ change }) => {
      const { before, after } = await change(resultName, 'true', 'false');
      await change('manifest.json', before, after);
    },
    { 'manifest.json, of the result': otherChecksum },
  ],
  [
    'a count of the manifest is changed',
    ({ change }) => change('manifest.json', '"accepted": 5', '"accepted": 4'),
    { 'manifest.json, of the run': 'differs from the ledger' },
  ],
  [
    'a call of the manifest is changed',
    ({ change }) => change('manifest.json', '"code": "ok"', '"code": "code-2009"'),
    { 'manifest.json, of the calls': 'differs from the ledger' },
  ],
])('verifying a run finds what is wrong where %s', async (_, tamper, faults) => {
  const day = await archivedDay();
  await tamper(day);
  expect(await day.findFaults()).toEqual(faults);
});

it('verifying a run detects a ledger that produces a different file', async () => {
  const { findFaults } = await archivedDay();
  expect(Object.keys(await findFaults({ masterIdColumn: 'Another Id' }))).toEqual([byTheRules, rendered]);
});

it('verifying a run compares only the manifest once guest names are blanked', async () => {
  const day = await archivedDay();
  await day.parts.archive.remove('2026-11-20', day.run().id, [inputName, resultName]);
  await day.blankNames();
  expect(await verifyRun(day.parts, day.run())).toEqual([
    { item: 'manifest.json, of the file as sent' },
    { item: 'manifest.json, of the result' },
    { item: 'manifest.json, of the run' },
  ]);
});
