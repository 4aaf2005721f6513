import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { measure } from '../../../src/base/content.js';
import { blankNames } from '../../../src/booking/stored-line.js';
import { archiveManifest } from '../../../src/review/file/archive-run.js';
import { renderReviewFile } from '../../../src/review/file/file-attempt.js';
import { type VerifiedItem, verifyRun } from '../../../src/review/file/verify-run.js';
import { claimStep, rightOf } from '../../contracts/ledger/days.js';
import { attemptOf, blocksOf, day, prepareFileRun, readWhole, remote } from './file-run.js';

const inputName = '20112026.csv';
const resultName = '20112026_Result.csv';
const resultText = 'ServiceId,IsCorrectMapping\n100200,True\n';
const byTheRules = `${inputName}, by the file rules`;
const rendered = "the ledger's bookings, rendered again";
const everything = [
  'manifest.json, of the file as sent',
  'manifest.json, of the result',
  'manifest.json, of the run',
  'manifest.json, of the calls',
  inputName,
  resultName,
  byTheRules,
  rendered,
];

describe('verifying what is stored of a run', () => {
  it('checks manifest, files, file rules and the ledger’s bookings, and finds nothing wrong', async () => {
    const { verify } = await prepareArchived();
    expect(await verify()).toEqual(everything.map((item) => ({ item })));
  });

  it('detects that the file as sent was changed, and shows none of its cells', async () => {
    const { verify, archived } = await prepareArchived();
    await appendFile(archived(inputName), '100200,BR-9,null,hotelbeds,00123,20112026,23112026\n');
    expect(await faultsOf(verify())).toEqual({
      [inputName]: expect.stringMatching(/^expected the checksum [0-9a-f]{64}, got: [0-9a-f]{64}$/),
      [byTheRules]: 'reads-as-null in row 6',
    });
  });

  it('detects missing and unreadable files, and continues with the others', async () => {
    const { verify, archived } = await prepareArchived();
    await rm(archived(inputName));
    await rm(archived(resultName));
    await mkdir(archived(resultName));
    expect(await faultsOf(verify())).toEqual({
      [inputName]: 'is not in the archive',
      [resultName]: "can't be read (unreadable)",
      [byTheRules]: 'is not in the archive',
    });
  });

  it('detects a missing manifest, and then has nothing to compare with', async () => {
    const { verify, archived } = await prepareArchived();
    await rm(archived('manifest.json'));
    expect(await verify()).toEqual([{ item: 'manifest.json', fault: 'is not in the archive' }]);
    await writeFile(archived('manifest.json'), '{"files": [');
    expect(await verify()).toEqual([{ item: 'manifest.json', fault: 'is not JSON' }]);
    for (const text of ['null', '{"files": [{}]}']) {
      await writeFile(archived('manifest.json'), text);
      expect(await verify()).toEqual([{ item: 'manifest.json', fault: 'is not a manifest' }]);
    }
  });

  it('detects files and manifest that were changed together', async () => {
    const { verify, parts, run, archived } = await prepareArchived();
    const manifest = await readWhole(parts.archive.read(day.iso, run.id, 'manifest.json'));
    const changed = 'ServiceId,IsCorrectMapping\n100200,False\n';
    const before = (await measure(blocksOf(resultText))).sha256;
    const after = (await measure(blocksOf(changed))).sha256;
    await writeFile(archived(resultName), changed);
    await writeFile(archived('manifest.json'), manifest.replace(before, after));
    expect(await faultsOf(verify())).toEqual({
      'manifest.json, of the result': `expected the checksum ${before}, got: ${after}`,
    });
  });

  it.each([
    ['"accepted": 5', '"accepted": 4', 'manifest.json, of the run'],
    ['"code": "ok"', '"code": "code-2009"', 'manifest.json, of the calls'],
  ])('finds %s of the manifest changed to %s', async (before, after, item) => {
    const { verify, parts, run, archived } = await prepareArchived();
    const manifest = await readWhole(parts.archive.read(day.iso, run.id, 'manifest.json'));
    await writeFile(archived('manifest.json'), manifest.replace(before, after));
    expect(await faultsOf(verify())).toEqual({ [item]: 'differs from the ledger' });
  });

  it('detects a ledger that produces a different file', async () => {
    const { parts, current } = await prepareArchived();
    const items = await verifyRun(parts, { ...(await current()), masterIdColumn: 'Another Id' });
    expect(Object.keys(await faultsOf(items))).toEqual([byTheRules, rendered]);
  });

  it('compares only the manifest once guest names are blanked', async () => {
    const { verify, ledger, parts, run } = await prepareArchived();
    await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: Date.parse('2026-11-21') });
    await parts.archive.remove(day.iso, run.id, [inputName, resultName]);
    await ledger.guests.blankNames('2027-01-01', blankNames);
    expect(await verify()).toEqual([
      { item: 'manifest.json, of the file as sent' },
      { item: 'manifest.json, of the result' },
      { item: 'manifest.json, of the run' },
    ]);
  });
});

/** A run whose file and result are in the archive, with a manifest. */
async function prepareArchived() {
  const { ledger, parts, run, archived, finish } = await prepareFileRun();
  const { archive } = parts;
  const sent = await archive.store(day.iso, run.id, inputName, renderReviewFile(parts.ledger, run));
  const received = await archive.store(day.iso, run.id, resultName, blocksOf(resultText));
  const { bytes, sha256 } = sent;
  const result = {
    name: resultName,
    size: received.bytes,
    modifiedAt: 7,
    sha256: received.sha256,
    rows: 1,
    isWhole: false,
  };
  await finish('write', { rows: 5, bytes, sha256 });
  await finish('upload', { remotePath: remote.path });
  await finish('trigger', { triggeredAt: 7 });
  const awaited = await finish('await-result', { result });
  const claim = await claimStep(ledger, run, 'archive');
  await archiveManifest(attemptOf(parts, awaited, claim), awaited.file ?? {});
  const current = () => ledger.runs.get(run.id);
  return {
    ledger,
    parts: { ...parts, ledger },
    run,
    archived,
    current,
    verify: async () => verifyRun({ ...parts, ledger }, await current()),
  };
}

/** What differs, by item. */
async function faultsOf(
  items: readonly VerifiedItem[] | Promise<readonly VerifiedItem[]>,
): Promise<Record<string, string>> {
  return Object.fromEntries(
    (await items).flatMap(({ item, fault }) => (fault === undefined ? [] : [[item, fault] as const])),
  );
}
