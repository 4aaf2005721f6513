import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { createCsvSource } from '../../../src/sources/csv/csv-source.js';
import { openDayFile } from '../../../src/sources/files/open-day-file.js';
import { masterIdOnly } from '../../support/source-columns.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marked-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function count(doneMarker: string, openBucket = () => Promise.reject(new TypeError('no bucket'))) {
  const file = openDayFile({ path: join(folder, '{day}.csv'), doneMarker }, { openBucket });
  let records = 0;
  for await (const chunk of createCsvSource({ file, columns: masterIdOnly }).read(day, {
    signal: new AbortController().signal,
  }))
    records += chunk.records.length;
  return records;
}

describe('a file with a marker', () => {
  it('is not there yet without the marker, whatever it holds', async () => {
    await writeFile(join(folder, '2026-11-20.csv'), 'ServiceId\n1\n');
    await writeFile(join(folder, '2026-11-19.done'), '');
    await expect(count(join(folder, '{day}.done'))).rejects.toMatchObject({
      fault: 'missing',
      message: `${join(folder, '2026-11-20.csv')} is not marked as complete: there is no ${join(folder, '2026-11-20.done')} (source.doneMarker)`,
    });
  });

  it.each(['', 'rows=1\n'])('is read once the marker is there, empty or not: %j', async (content) => {
    await writeFile(join(folder, '2026-11-20.csv'), 'ServiceId\n1\n');
    await writeFile(join(folder, '20112026.done'), content);
    expect(await count(join(folder, '{day:ddMMyyyy}.done'))).toBe(1);
  });
});
