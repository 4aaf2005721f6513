import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { serviceFields } from '../../../src/booking/booking.js';
import type { SourceColumns } from '../../../src/booking/source.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { summarise, useCsvFolder } from './csv-folder.js';
import { expectFault } from './expect-fault.js';

const { pathOf, readDay, readFile } = useCsvFolder();

/** Without saying which fields the file lacks. */
async function readStrictly(content: string, columns: SourceColumns = {}) {
  await writeFile(pathOf('2026-11-20.csv'), content);
  return readDay({ columns });
}

describe('the columns of a CSV file', () => {
  it('are found by the configured names, in any order, trimmed, quoted or not', async () => {
    const { records } = await readFile('ignored," Hotel ""No"" ", ref ,ServiceId\nx,5,BR-1,99\n', {
      columns: { ServiceId: 'Hotel "No"', BookingReferenceId: 'ref' },
    });
    expect(records).toMatchObject([{ fields: { ServiceId: '5', BookingReferenceId: 'BR-1' } }]);
  });

  it('are case-sensitive', async () => {
    await expectFault(readFile('serviceid\n5\n'), 'missing-column', /"ServiceId"/);
  });

  it('may be absent if the configuration says so; a column of that name is then ignored', async () => {
    const { records, notices, chunks } = await readFile(`ServiceId,ProviderName\n${'5,x\n'.repeat(30_000)}`, {
      blockBytes: 10_000,
      columns: masterIdOnly,
    });
    expect(chunks.length).toBeGreaterThan(1);
    expect(notices).toEqual([]);
    for (const record of records) expect('fields' in record && record.fields.ProviderName).toBeUndefined();
  });

  it.each([
    ['a mapped one', { CheckInDate: 'arrival' }, /column "arrival" \(for CheckInDate\) is not in the header/],
    ['one of the default', {}, /column "CheckInDate" is not in the header/],
  ])(
    'must exist otherwise; the error names it, the header and the way out: %s',
    async (_, columns, words) => {
      const header = serviceFields.map((field) => (field === 'CheckInDate' ? 'checkin' : field));
      const error = await expectFault(readStrictly(`${header}\n`, columns), 'missing-column', words);
      expect(error.message).toContain(pathOf('2026-11-20.csv'));
      expect(error.message).toContain(`which has ${header.map((name) => JSON.stringify(name)).join(', ')}. `);
      expect(error.message).toContain('source.columns: { CheckInDate: false }');
    },
  );

  it('are named together, with a part of a long header', async () => {
    const own = Array.from({ length: 40 }, (_, index) => `own${index}`.padEnd(100, 'x'));
    const error = await expectFault(
      readStrictly(`ServiceId,${own}\n`),
      'missing-column',
      /"ProviderName", "ProviderHotelId", .* are not in .* and 21 more\. .*ProviderHotelId: false, CheckInDate: false/,
    );
    expect(error.message).not.toContain('x'.repeat(50));
  });

  it('cannot be declared absent for the master id', async () => {
    const error = await expectFault(
      readStrictly(`HotelId,${serviceFields.slice(1)}\n`),
      'missing-column',
      /"ServiceId" is .* which has "HotelId", .*Set its name in source\.columns$/,
    );
    expect(error.message).not.toContain('false');
  });

  it.each(['5,Ann Canary\n', '5,BR-1,Gast,"Ann ""Canary""",7,2026-12-01,2026-12-08\n'])(
    'are not listed in errors if none is known: without a header the first line is a booking',
    async (content) => {
      const error = await expectFault(
        readStrictly(content),
        'missing-column',
        /"ServiceId" is .* \d columns/,
      );
      expect(error.message).not.toMatch(/Ann|Gast|BR-1/);
    },
  );

  it('must not occur twice if they are needed', async () => {
    await expectFault(readFile('ServiceId,a,ServiceId\n5,x,6\n'), 'ambiguous-column', /"ServiceId"/);
    await expectFault(
      readFile('ServiceId,ProviderName, ProviderName\n5,x,6\n'),
      'ambiguous-column',
      /"ProviderName"/,
    );
    expect(summarise((await readFile('ServiceId,a,a\n5,x,6\n')).records)).toEqual(['2:5']);
  });
});
