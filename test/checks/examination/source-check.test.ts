import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { createNormaliser } from '../../../src/booking/normalise.js';
import type { SourceColumns } from '../../../src/booking/source.js';
import { checkSource } from '../../../src/checks/examination/source-check.js';
import { createFilteredSource } from '../../../src/sources/common/row-filter.js';
import { createCsvSource } from '../../../src/sources/csv/csv-source.js';
import { createLocalDayFile } from '../../../src/sources/files/day-file.js';
import { createArraySource, record } from '../../review/array-source.js';
import { bookingsHeader } from '../../support/made-bookings.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const { signal } = new AbortController();

interface Wanted {
  readonly columns?: SourceColumns;
  readonly emptyDay?: 'succeed' | 'fail';
  readonly maxRejectedShare?: number;
}

/** Checks a day's file with that content; without content there is no file. */
async function check(
  content: string | Buffer | undefined,
  { columns = {}, emptyDay = 'succeed', maxRejectedShare = 0.1 }: Wanted = {},
) {
  const path = join(makeTemporaryFolder(), 'bookings-{day}.csv');
  const file = path.replace('{day}', day.iso);
  if (content !== undefined) writeFileSync(file, content);
  const source = createCsvSource({ file: createLocalDayFile(path), columns });
  const parts = {
    source,
    normaliserFor: () => createNormaliser({ day: day.iso }),
    extraLabels: [],
    day,
    maxRejectedShare,
    emptyDay,
  };
  return { file, findings: await checkSource(parts, signal) };
}

describe('a source that is wrong', () => {
  it('has no file for the day, and the advice says how to try another day', async () => {
    const { file, findings } = await check(undefined);
    expect(findings).toEqual([
      {
        part: 'source',
        verdict: 'wrong',
        message: `there is no file ${file}`,
        advice: 'Try another day with --day YYYY-MM-DD.',
      },
    ]);
  });

  it.each([
    ['an empty file', '', /is empty/],
    ['another delimiter', 'a;b\n1;2\n', /"ServiceId" is not in .*: is source\.delimiter/],
  ])('is a finding with its reason: %s', async (_, content, message) => {
    const { findings } = await check(content);
    expect(findings).toEqual([{ part: 'source', verdict: 'wrong', message: expect.stringMatching(message) }]);
  });

  it('shows no guest, even if columns are mixed up', async () => {
    const guest = 'Canaria Zwitscherfink';
    const cells = `1,BR-1,${guest},Expedia,7,2026-12-01,2026-12-02`;
    const contents = [
      `${cells}\n${cells}\n`,
      `${bookingsHeader}\n${guest},BR-1,x,y,z,,\n`,
      `${bookingsHeader}\n1,BR-1,"${guest}" ${guest},Expedia,7,,\n`,
      `${bookingsHeader}\n1,BR-1,x,Expedia,7,${guest},${guest}\n`,
    ];
    for (const content of contents) {
      const said = JSON.stringify((await check(content)).findings);
      for (const word of [guest, ...guest.split(' ')]) expect(said).not.toContain(word);
    }
  });
});

describe('a day without bookings', () => {
  it('is a warning, or wrong if that fails a run', async () => {
    for (const [emptyDay, verdict] of [
      ['succeed', 'warning'],
      ['fail', 'wrong'],
    ] as const)
      expect((await check(`${bookingsHeader}\n`, { emptyDay })).findings).toMatchObject([{ verdict }]);
  });
});

describe('reading', () => {
  const parts = {
    extraLabels: [],
    normaliserFor: () => createNormaliser(),
    day,
    maxRejectedShare: 0.1,
    emptyDay: 'succeed' as const,
  };

  it.each([
    [{ ProviderName: 'Bedlink' }, 'have no ProviderHotelId:'],
    [{ ProviderHotelId: 'BL-1' }, 'have no ProviderName:'],
    [{ ProviderName: 'Bedlink', ProviderHotelId: 'BL-1' }, undefined],
  ])('warns if no booking names the hotel of a provider, as with %j', async (first, message) => {
    const source = createArraySource([[record(1, first), record(2, {})]]);
    const findings = await checkSource({ ...parts, source }, signal);
    const warnings = findings.filter(({ verdict }) => verdict === 'warning');
    expect(warnings.map((one) => one.message)).toEqual(
      message === undefined ? [] : [expect.stringContaining(message)],
    );
  });

  it('stops after several hundred records that cannot be sent', async () => {
    const source = createArraySource(
      Array.from({ length: 1_000 }, (_, place) => [record(place + 1, { ServiceId: 'x' })]),
    );
    const findings = await checkSource({ ...parts, source }, signal);
    expect(findings[0]).toMatchObject({
      verdict: 'wrong',
      message: expect.stringContaining('none of its first 300 records can be sent'),
    });
    expect(source.pulled()).toBeLessThan(310);
  });

  const valid = `2,BR-2,Ana,Expedia,7,2026-12-01,2026-12-02\n`;

  it.each([
    ['x,BR-1,Ana,Expedia,7,,\n', 0.5, 'ok', '1 of its 3 records cannot be sent'],
    ['x,BR-1,Ana,Expedia,7,,\n'.repeat(4), 0.5, 'warning', '4 of its 6 records cannot be sent'],
    [
      '1,BR-1,Ana,Expedia,7,soon,\n',
      0.1,
      'warning',
      '1 of the 5 dates in these bookings are not calendar dates',
    ],
    [
      '1,BR-1,Ana,Expedia,7,2076-12-01,\n',
      0.1,
      'warning',
      '1 of the 3 check-ins of these bookings are years away',
    ],
  ])('says what is wrong with some of its records: %j', async (row, maxRejectedShare, verdict, words) => {
    const { findings } = await check(`${bookingsHeader}\n${row}${valid}${valid}`, { maxRejectedShare });
    expect(findings.slice(1)).toMatchObject([{ verdict, message: expect.stringContaining(words) }]);
  });

  it('says which columns it lacks that source.keep names', async () => {
    const notices = ['Price', 'Board'].map((column) => ({ kind: 'absent-column' as const, column }));
    const fields = { ProviderName: 'Bedlink', ProviderHotelId: 'BL-1' };
    const source = createArraySource([{ records: [record(1, fields)], notices }]);
    expect((await checkSource({ ...parts, source }, signal)).slice(1)).toMatchObject([
      {
        verdict: 'warning',
        message: expect.stringContaining('no column "Price" or "Board", which source.keep'),
      },
    ]);
  });
});

describe('a source with a filter', () => {
  const checkFiltered = async (states: readonly string[]) => {
    const bookings = states.map((state, place) => ({
      ...record(place + 1, {}),
      filterValues: [state],
    }));
    const source = createFilteredSource(createArraySource([bookings]), { Estado: ['CONF'] });
    const parts = {
      extraLabels: [],
      source,
      normaliserFor: () => createNormaliser(),
      day,
      maxRejectedShare: 0.1,
      emptyDay: 'fail' as const,
    };
    return checkSource(parts, signal);
  };

  it('is understood once a few records match', async () => {
    const findings = await checkFiltered(['CANC', 'CONF', 'CANC', ...Array(9).fill('CONF')]);
    expect(findings).toMatchObject([
      { verdict: 'ok', message: expect.stringContaining('5 of its first 5 records as understood') },
      {
        verdict: 'warning',
        message: expect.stringContaining('have no ProviderName and no ProviderHotelId'),
      },
      {
        verdict: 'ok',
        message:
          'source.where, of the first records:\nEstado: 2 of 12 records left out; "CANC" 2; taken: "CONF" 10',
      },
    ]);
  });

  it('warns where none of the first thousand records match, as the others are not read', async () => {
    const findings = await checkFiltered([...Array(1_000).fill('CANC'), 'CONF']);
    expect(findings).toMatchObject([
      {
        verdict: 'warning',
        message: expect.stringContaining('source.where takes none of its first 1000 records'),
      },
      { verdict: 'ok', message: expect.stringContaining('"CANC" 1,000') },
    ]);
  });

  it('is wrong where it matches nothing of the whole day', async () => {
    const findings = await checkFiltered(['CANC', 'CANC']);
    expect(findings).toMatchObject([
      { verdict: 'wrong', message: expect.stringContaining('all 2 records are filtered') },
      { verdict: 'ok', message: expect.stringContaining('"CANC" 2') },
    ]);
  });
});
