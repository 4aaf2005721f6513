import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { html } from '../../../src/base/html.js';
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
import { getPage, readRows, startDesk, stopServers } from '../some-desk.js';
import { addFileRun, fileRunId } from '../some-file-run.js';

const evil = `"'><script>alert(1)</script>`;

let ledger: DeskParts['ledger'];
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => at);
});
afterEach(stopServers);

const start = (role: 'team' | 'operator' | 'viewer') => startDesk({ ledger, role });

describe('the records that a run rejected', () => {
  beforeEach(async () => {
    const run = await ledger.runs.create(newRun('r1'));
    const collect = await ledger.bookings.beginCollect(rightOf(run), { source: 'x', at, batchSize: 4 });
    const rejects = [
      {
        place: 3,
        reason: 'service-id-invalid' as const,
        field: 'ServiceId',
        value: 'Ana Gil',
        reference: evil,
      },
      { place: 9, reason: 'check-in-invalid' as const, field: 'CheckInDate', value: '31/02/2026' },
      ...Array.from({ length: 120 }, (_, index) => ({
        place: 100 + index,
        reason: 'wrong-cell-count' as const,
      })),
    ];
    await collect.store(chunkOf({ rejects: rejects as never }));
    await collect.finish({ steps: [], at });
  });

  it('are listed by place with field and value, a hundred a page, and recorded as a look', async () => {
    const { url, recorded } = await start('team');
    const { text } = await getPage(url, '/runs/r1/rejected');
    expect(text).toContain('122 records: page 1 of 2');
    expect(readRows(text).slice(0, 2)).toEqual([
      ['3', 'service-id-invalid', html`${evil}`.markup, 'ServiceId', 'Ana Gil'],
      ['9', 'check-in-invalid', '', 'CheckInDate', '31/02/2026'],
    ]);
    const second = readRows((await getPage(url, '/runs/r1/rejected?page=2')).text);
    expect([second.length, second[0]?.[0]]).toEqual([22, '198']);
    expect(recorded).toMatchObject([
      { who: 'ana (desk)', action: 'rejected', subject: '2026-11-20', details: { run: 'r1', found: 100 } },
      { details: { found: 22 } },
    ]);
  });

  it('can be chosen by reason', async () => {
    const { url } = await start('team');
    const { text } = await getPage(url, '/runs/r1/rejected?reason=wrong-cell-count&page=2');
    expect(text).toContain('120 records: page 2 of 2');
    expect(text).not.toContain('31/02/2026');
    expect(text).toContain('href="/runs/r1/rejected?reason=check-in-invalid"');
    const none = await getPage(url, '/runs/r1/rejected?reason=none');
    expect(none.text).toContain('0 records.');
    expect(none.text).toContain('No record for this reason.');
    expect(readRows(none.text)).toEqual([]);
  });

  it('are not shown without a record, except without their values', async () => {
    const record = () => Promise.reject(new Error('the disk is full'));
    const status = async (role: 'team' | 'operator', query = '') => {
      const { url } = await startDesk({ ledger, role, record });
      return (await getPage(url, `/runs/r1/rejected${query}`)).status;
    };
    expect(await status('team')).toBe(500);
    expect(await status('team', '?reason=wrong-cell-count')).toBe(200);
    expect(await status('operator')).toBe(200);
  });
});

describe('the bookings that the service refused', () => {
  beforeEach(async () => {
    const run = await collectedRun(ledger, 'r1', { bookings: references(4) });
    await perform(ledger, run, 'batch 0', halved);
    await perform(ledger, run, 'batch 0.1', halved);
    const answer = `Invalid hotel data of Ana Gil ${evil}`;
    await perform(ledger, run, 'batch 0.1.0', { ...refused, evidence: { ...refused.evidence, answer } });
  });

  it.each(['team', 'operator'] as const)(
    'come with its messages, which name no guest, for the role %s',
    async (role) => {
      const { url, recorded } = await start(role);
      const { text } = await getPage(url, '/runs/r1/refused');
      expect(text).toContain('1 booking.');
      expect(readRows(text)).toEqual([
        [
          ...['BR-2', 'unknown', 'unknown', 'unknown', '007', '7'],
          ...['unknown: the mappings were never synced', 'code-2009'],
          ...[expect.stringContaining('*** ***'), 'batch 0.1.0', 'none'],
        ],
      ]);
      expect(text).not.toMatch(/Ana|Gil/);
      expect(text).not.toContain('<script>alert');
      expect(text).toContain('href="/bookings?reference=BR-2"');
      expect(recorded[0]).toMatchObject({
        action: 'show',
        subject: '2026-11-20',
        details: { run: 'r1', found: 1, answers: true },
      });
    },
  );
});

it('Affected bookings and those without a verdict are listed, with names only for those who may see them', async () => {
  await addFileRun(ledger);
  const [team, operator] = [await start('team'), await start('operator')];
  const shown = [
    '20 Nov 2026',
    '23 Nov 2026',
    'hotelbeds',
    '007',
    '7',
    'unknown: the mappings were never synced',
  ];
  for (const [list, row] of [
    ['affected', ['F-1', 'Ana Gil', ...shown, 'none']],
    ['unanswered', ['F-2', 'Ana Gil', ...shown, 'not-in-result', 'none']],
  ] as const) {
    const path = `/runs/${fileRunId}/${list}`;
    expect(readRows((await getPage(team.url, path)).text)).toEqual([row]);
    expect((await getPage(operator.url, path)).text).not.toContain('Ana');
  }
  expect(team.recorded[0]).toMatchObject({
    ...{ action: 'affected', subject: '2026-11-19', details: { found: 1 } },
  });
});

it('A list of hundreds that went by body is read from the middle', async () => {
  const run = await ledger.runs.create(newRun('r1', { delivery: 'file' }));
  const collect = await ledger.bookings.beginCollect(rightOf(run), { source: 'x', at, batchSize: 30 });
  const all = references(310);
  const batches = Array.from({ length: 11 }, (_, number) =>
    batchOf(number, all.slice(number * 30, number * 30 + 30)),
  );
  await collect.store(chunkOf({ batches }));
  await collect.finish({ steps: planBatches(310, 30), at });
  const { url } = await start('team');
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
  const { url } = await start('team');
  const words = {
    suspects: 'Unknown: this run was not compared with a copy of the mappings.',
    unanswered: 'Verdicts come by e-mail only, so none is known to be correct.',
    refused: 'The service refused no booking of this run.',
    rejected: 'No record of this run was rejected.',
  };
  for (const [name, said] of Object.entries(words))
    expect((await getPage(url, `/runs/r1/${name}`)).text).toContain(said);
});

it('Suspects are listed with what the copy has', async () => {
  const run = await ledger.runs.create(newRun('r1'));
  const collect = await ledger.bookings.beginCollect(rightOf(run), {
    source: 'x',
    at,
    batchSize: 4,
    comparesMappings: true,
  });
  const suspects = [
    { row: 0, reason: 'other-master' as const, serviceId: 8, movedAt: at },
    { row: 2, reason: 'moved' as const, movedAt: at },
  ];
  await collect.store(chunkOf({ batches: [{ ...batchOf(0, references(4)), suspects }] }));
  await collect.finish({ steps: planBatches(4, 4), at });
  const { url, recorded } = await start('operator');
  const { text } = await getPage(url, '/runs/r1/suspects');
  expect(readRows(text).map((row) => [row[0], row.at(-2)])).toEqual([
    ['BR-0', '8 moved 21 Nov 2026'],
    ['BR-2', 'deleted moved 21 Nov 2026'],
  ]);
  expect(recorded).toMatchObject([{ action: 'suspects', subject: '2026-11-20' }]);
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
