import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readHeldHotels } from '../../jobs/commands/mappings.js';
import { makeTemporaryFolder } from '../support/temporary-folder.js';

it.each<[string, number[] | string]>([
  ['10\n0020\r\n\n 30 \n10', [10, 20, 30]],
  ['\uFEFFServiceId,HotelName\n10,"Sol, y Mar"\n"20",\n30;x\n', [10, 20, 30]],
  ['{"ServiceId":10}\n{"ServiceId":20,"a":1}\n{"ServiceId":30}\n', [10, 20, 30]],
  ['10\nten\n', 'line 2 of held does not begin'],
  ['10\n0\n', 'line 2 of held does not begin'],
  ['10\n{"ServiceId":\n', 'line 2 of held does not begin'],
  ['ServiceId\n', 'holds no'],
])(
  'Master hotels that are already held are read from ids, CSV and earlier files: %j',
  async (text, found) => {
    const folder = makeTemporaryFolder();
    const path = join(folder, 'held');
    await writeFile(path, text);
    const reading = readHeldHotels({ name: 'held', path });
    if (typeof found === 'string') await expect(reading).rejects.toThrow(found);
    else expect([...(await reading)]).toEqual(found);
  },
);
