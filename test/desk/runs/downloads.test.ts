import { beforeEach, expect, it } from 'vitest';
import type { DeskParts } from '../../../src/desk/page.js';
import type { Run } from '../../../src/rules/run.js';
import { at, collectedRun } from '../../contracts/ledger/days.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { getPage, startDesk } from '../some-desk.js';
import { addFileRun, archiveOf, fileRunId, resultContent, resultName } from '../some-file-run.js';

let ledger: DeskParts['ledger'];
let run: Run;
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => at);
  run = await addFileRun(ledger);
});

const start = (archive: DeskParts['archive']) => startDesk({ ledger, role: 'team', parts: { archive } });

it('The result is sent byte for byte, as a file, and that is recorded', async () => {
  const { url, recorded } = await start(archiveOf(run));
  const { status, headers, text } = await getPage(url, `/runs/${fileRunId}/result`);
  expect([status, text]).toEqual([200, resultContent]);
  expect(headers.get('content-disposition')).toBe(`attachment; filename="${fileRunId}-${resultName}"`);
  expect(headers.get('content-type')).toBe('application/octet-stream');
  expect(recorded).toMatchObject([{ action: 'download', details: { run: fileRunId, file: 'result' } }]);
});

it('A result that is not what was judged is not sent, and the page says so', async () => {
  const { url, recorded } = await start(
    archiveOf(run, { [`2026-11-19/${fileRunId}/${resultName}`]: 'tampered' }),
  );
  const { status, text } = await getPage(url, `/runs/${fileRunId}/result`);
  expect(status).toBe(409);
  expect(text).toContain('it is not what the ledger recorded');
  expect(text).toContain(run.file?.result?.sha256);
  expect(text).toContain('hotel-review verify 2026-11-19');
  expect(text).not.toContain('tampered');
  expect(recorded).toEqual([]);
});

it('The manifest is sent unless it differs from the ledger', async () => {
  const { url, recorded } = await start(archiveOf(run));
  const { status, text } = await getPage(url, `/runs/${fileRunId}/manifest`);
  expect([status, JSON.parse(text)]).toEqual([
    200,
    expect.objectContaining({ runId: fileRunId, day: '2026-11-19' }),
  ]);
  expect(recorded).toMatchObject([{ action: 'download', details: { file: 'manifest' } }]);
  const altered = text.replace(run.file?.sha256 ?? '', 'f'.repeat(64));
  const other = await start(archiveOf(run, { [`2026-11-19/${fileRunId}/manifest.json`]: altered }));
  const refused = await getPage(other.url, `/runs/${fileRunId}/manifest`);
  expect([refused.status, refused.text]).toEqual([
    409,
    expect.stringContaining('manifest.json, of the file as sent'),
  ]);
});

it('What was removed with the names, or is not there yet, is not found', async () => {
  await collectedRun(ledger, '20261121-body', { day: '2026-11-21' });
  await ledger.guests.blankNames('2027-01-01', (lines) => lines);
  const { url } = await start(archiveOf(run));
  for (const [path, words] of [
    [`/runs/${fileRunId}/result`, 'removed with the names'],
    ['/runs/20261121-body/result', 'nothing of this run is in the archive'],
    ['/runs/20261121-body/manifest', 'nothing of this run is in the archive'],
    ['/runs/none/result', 'no run of that name'],
  ] as const) {
    const { status, text } = await getPage(url, path);
    expect([path, status, text]).toEqual([path, 404, expect.stringContaining(words)]);
  }
  expect((await getPage(url, `/runs/${fileRunId}`)).text).not.toContain(`/runs/${fileRunId}/result`);
});
