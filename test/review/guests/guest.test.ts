import { expect, it } from 'vitest';
import { readRecords } from '../../../src/review/guests/file-records.js';
import { type Guest, isRecordOf } from '../../../src/review/guests/guest.js';

const header = 'Service Mappings Id,BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId';

/** The lines of a file's records that are about the guest with the reference 100003. */
async function findLines(rows: readonly string[], header: string): Promise<readonly number[]> {
  const guest: Guest = {
    reference: '100003',
    names: new Set(['Ana Gil']),
    traces: [],
  };
  const found: number[] = [];
  const file = [Buffer.from(`${[header, ...rows].join('\n')}\n`)];
  for await (const records of readRecords(toAsync(file)))
    for (const record of records) if (isRecordOf(guest, record)) found.push(record.line);
  return found;
}

async function* toAsync(blocks: readonly Buffer[]): AsyncGenerator<Buffer, void, undefined> {
  yield* blocks;
}

it("takes no other guest's record as the guest's, although a hotel's id is the same text as the reference", async () => {
  const rows = [
    '100004,100003,Ana Gil,Bedlink,BL-1',
    '100003,OTHER-1,Eva Roth,Bedlink,BL-2',
    '100005,OTHER-2,Tom Berg,Bedlink,100003',
  ];
  expect(await findLines(rows, header)).toEqual([2]);
});

it('checks every cell of a record with other columns than the header, or without a column of references', async () => {
  expect(await findLines(['100004,extra,100003,Ana Gil,Bedlink,BL-1'], header)).toEqual([2]);
  expect(await findLines(['False,100003'], 'Verdict,Booking')).toEqual([2]);
});

it('takes a malformed record as theirs if it has the reference or the name as a separate value', async () => {
  const malformed = (text: string) => `x,"y" ${text},z`;
  const theirs = ['100003', 'for 100003.', '#100003;1', 'Ana Gil'];
  const others = ['1000031', 'BR-100003', '100003-2', '100003/2', 'Ana Gilbert', 'Joana Gil', 'Ana Gil-Roth'];
  const rows = [...theirs, ...others].map(malformed);
  expect(await findLines(rows, header)).toEqual(theirs.map((_, index) => index + 2));
});
