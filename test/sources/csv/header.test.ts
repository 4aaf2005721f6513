import { describe, expect, it } from 'vitest';
import { serviceFields } from '../../../src/booking/booking.js';
import { summarise, useCsvFolder } from './csv-folder.js';
import { expectFault } from './expect-fault.js';

const { pathOf, readFile } = useCsvFolder();

describe('the columns of a CSV file', () => {
  it('are found by the configured names, in any order, trimmed, quoted or not', async () => {
    const { records, notices } = await readFile('ignored," Hotel ""No"" ", ref ,ServiceId\nx,5,BR-1,99\n', {
      columns: { ServiceId: 'Hotel "No"', BookingReferenceId: 'ref' },
    });
    expect(records).toMatchObject([{ fields: { ServiceId: '5', BookingReferenceId: 'BR-1' } }]);
    expect(notices.map(({ column }) => column)).toEqual(serviceFields.slice(2));
  });

  it('are case-sensitive', async () => {
    await expectFault(readFile('serviceid\n5\n'), 'missing-column', /"ServiceId"/);
  });

  it('may be absent if not configured: one notice says so, and the field is missing', async () => {
    const { records, notices, chunks } = await readFile(`ServiceId\n${'5\n'.repeat(100)}`, {
      blockBytes: 16,
    });
    expect(chunks.length).toBeGreaterThan(1);
    expect(notices).toEqual(serviceFields.slice(1).map((column) => ({ kind: 'absent-column', column })));
    expect(chunks[0]?.notices).toEqual(notices);
    for (const record of records) expect('fields' in record && record.fields.ProviderName).toBeUndefined();
  });

  it('must exist if configured', async () => {
    const error = await expectFault(
      readFile('ServiceId,b,c\n5,x,y\n', { columns: { CheckInDate: 'arrival' } }),
      'missing-column',
      /"arrival" \(for CheckInDate\).* 3 columns/,
    );
    expect(error.message).toContain(pathOf('2026-11-20.csv'));
  });

  it('are not listed in errors: without a header the first line is a booking', async () => {
    await expectFault(readFile('5,Ann Canary\n'), 'missing-column', /"ServiceId" .* 2 columns/);
  });

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
