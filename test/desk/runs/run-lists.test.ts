import { beforeEach, describe, expect, it } from 'vitest';
import type { DeskParts } from '../../../src/desk/page.js';
import { planBatches } from '../../../src/rules/batch-plan.js';
import { KeyError } from '../../../src/storage/day-keys.js';
import {
  at,
  batchOf,
  chunkOf,
  collectedRun,
  halved,
  newRun,
  perform,
  references,
  refused,
  rightOf,
} from '../../contracts/ledger/days.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { getPage, readRows, startDesk } from '../some-desk.js';
import { addFileRun, fileRunId } from '../some-file-run.js';

let ledger: DeskParts['ledger'];
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => at);
});

describe('the records that a run rejected', () => {
  beforeEach(async () => {
    const run = await ledger.runs.create(newRun('r1'));
    const collect = await ledger.bookings.beginCollect(rightOf(run), { source: 'x', at, batchSize: 4 });
    const masterId = {
      place: 3,
      reason: 'service-id-invalid',
      field: 'ServiceId',
      value: 'Ana Gil',
    } as const;
    const stay = {
      place: 9,
      reason: 'service-id-missing',
      field: 'CheckInDate',
      value: '31/02/2026',
    } as const;
    const others = Array.from({ length: 120 }, (_, index) => ({
      ...{ place: 100 + index, reason: 'wrong-cell-count' as const },
    }));
    await collect.store(chunkOf({ rejects: [{ ...masterId, reference: 'BR-3' }, stay, ...others] }));
    await collect.finish({ steps: [], at });
  });

  it('are listed by place with field and value, a hundred a page, and can be chosen by reason', async () => {
    const { url, recorded } = await startDesk({ ledger, role: 'team' });
    const read = async (query: string) => (await getPage(url, `/runs/r1/rejected${query}`)).text;
    const first = await read('');
    expect(first).toContain('122 records: page 1 of 2');
    expect(readRows(first).slice(0, 2)).toEqual([
      ['3', 'service-id-invalid', 'BR-3', 'ServiceId', 'Ana Gil'],
      ['9', 'service-id-missing', '', 'CheckInDate', '31/02/2026'],
    ]);
    const second = readRows(await read('?page=2'));
    expect([second.length, second[0]?.[0]]).toEqual([22, '198']);
    expect(recorded).toMatchObject([
      { who: 'ana (desk)', action: 'rejected', subject: '2026-11-20', details: { run: 'r1', found: 100 } },
      { details: { found: 22 } },
    ]);
    const chosen = await read('?reason=wrong-cell-count&page=2');
    expect(chosen).toContain('120 records: page 2 of 2');
    expect(chosen).not.toContain('more were counted');
    expect(chosen).toContain('href="/runs/r1/rejected?reason=service-id-missing"');
    expect(readRows(chosen)).toHaveLength(20);
    expect(await read('?reason=none')).toContain('No record for this reason.');
  });

  it('are not shown without a record, except without their values', async () => {
    const record = () => Promise.reject(new Error('the disk is full'));
    for (const [role, query, status] of [
      ['team', '', 500],
      // Without a reference.
      ['team', '?reason=service-id-missing', 500],
      ['team', '?reason=wrong-cell-count', 200],
      ['operator', '', 200],
    ] as const) {
      const { url } = await startDesk({ ledger, role, record });
      expect((await getPage(url, `/runs/r1/rejected${query}`)).status).toBe(status);
    }
  });
});

it('Refused bookings come with the service’s messages, which name no guest', async () => {
  const run = await collectedRun(ledger, 'r1', { bookings: references(4) });
  await perform(ledger, run, 'batch 0', halved);
  await perform(ledger, run, 'batch 0.1', halved);
  await perform(ledger, run, 'batch 0.1.0', refused);
  const { url, recorded } = await startDesk({ ledger, role: 'team' });
  const { text } = await getPage(url, '/runs/r1/refused');
  expect(readRows(text)).toEqual([
    [
      ...['BR-2', 'unknown', 'unknown', 'unknown', '007', '7', 'unknown: the mappings were never synced'],
      ...['code-2009', expect.stringContaining('*** ***'), 'batch 0.1.0', 'none'],
    ],
  ]);
  expect(text).not.toMatch(/Ana|Gil/);
  expect(recorded).toMatchObject([{ action: 'show', details: { run: 'r1', found: 1, answers: true } }]);
});

it('Affected bookings and those without a verdict are listed, with names only for those who may see them', async () => {
  await addFileRun(ledger);
  const [team, operator] = [
    await startDesk({ ledger, role: 'team' }),
    await startDesk({ ledger, role: 'operator' }),
  ];
  const stay = ['20 Nov 2026', '23 Nov 2026', 'hotelbeds', '007', '7'];
  const shown = [...stay, 'unknown: the mappings were never synced'];
  for (const [list, row] of [
    ['affected', ['F-1', 'Ana Gil', ...shown, 'none']],
    ['unanswered', ['F-2', 'Ana Gil', ...shown, 'not-in-result', 'none']],
  ] as const) {
    const path = `/runs/${fileRunId}/${list}`;
    expect(readRows((await getPage(team.url, path)).text)).toEqual([row]);
    expect((await getPage(operator.url, path)).text).not.toContain('Ana');
  }
  expect(team.recorded[0]).toMatchObject({ action: 'affected', details: { found: 1, lists: 'affected' } });
});

it('A list of hundreds that went by body is read from the middle', async () => {
  const all = references(310);
  await collectedRun(ledger, 'r1', { delivery: 'file', bookings: all });
  const { url } = await startDesk({ ledger, role: 'team' });
  const pages = [];
  for (const page of [1, 2, 3, 4, 5])
    pages.push(readRows((await getPage(url, `/runs/r1/posted?page=${page}`)).text));
  // Beyond the last page there is the last one.
  expect(pages.pop()).toEqual(pages.at(-1));
  expect(pages.map((rows) => rows.length)).toEqual([100, 100, 100, 10]);
  expect(pages.flatMap((rows) => rows.map(([reference]) => reference))).toEqual(all);
});

it('A list without bookings is no good news if nothing was compared or answered', async () => {
  await collectedRun(ledger, 'r1');
  const { url } = await startDesk({ ledger, role: 'team' });
  for (const [name, said] of [
    ['suspects', 'Unknown: this run was not compared with a copy of the mappings.'],
    ['unanswered', 'Verdicts come by e-mail only, so none is known to be correct.'],
    ['refused', 'The service refused no booking of this run.'],
    ['rejected', 'No record of this run was rejected.'],
  ])
    expect((await getPage(url, `/runs/r1/${name}`)).text).toContain(said);
});

it('Suspects are listed with what the copy has', async () => {
  const run = await ledger.runs.create(newRun('r1'));
  const start = { source: 'x', at, batchSize: 4, comparesMappings: true };
  const collect = await ledger.bookings.beginCollect(rightOf(run), start);
  const suspects = [
    { row: 0, reason: 'other-master' as const, serviceId: 8, movedAt: at },
    { row: 2, reason: 'moved' as const, movedAt: at },
  ];
  await collect.store(chunkOf({ batches: [{ ...batchOf(0, references(4)), suspects }] }));
  await collect.finish({ steps: planBatches(4, 4), at });
  const { url } = await startDesk({ ledger, role: 'operator' });
  const rows = readRows((await getPage(url, '/runs/r1/suspects')).text);
  expect(rows.map((row) => [row[0], row.at(-2)])).toEqual([
    ['BR-0', '8 moved 21 Nov 2026'],
    ['BR-2', 'deleted moved 21 Nov 2026'],
  ]);
});

it('Bookings whose key was destroyed can not be listed, and the page says so', async () => {
  await addFileRun(ledger);
  const message = 'the key of 2026-11-19 was destroyed';
  const readBatches = () => Promise.reject(new KeyError('destroyed', message));
  const { url } = await startDesk({
    ledger: withReplaced(ledger, { bookings: { readBatches } }),
    role: 'team',
  });
  const { status, text } = await getPage(url, `/runs/${fileRunId}/posted`);
  expect([status, text]).toEqual([409, expect.stringContaining(message)]);
});
