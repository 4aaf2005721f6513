import { mkdtempSync, realpathSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalDayFile } from '../../../src/sources/files/day-file.js';
import { describeSourceContract } from '../../contracts/source.js';
import { createFileDriver, csvInGzip, type FilePlace, ndjson } from './file-driver.js';
import { canCountDescriptors, countDescriptors } from './open-descriptors.js';

function makePlace(): FilePlace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'local-contract-')));
  return {
    file: createLocalDayFile(join(root, 'bookings-{day}')),
    lay: (day, content) => writeFile(join(root, `bookings-${day}`), content),
    ...(canCountDescriptors && { held: () => countDescriptors(root) }),
    dispose: () => rm(root, { recursive: true }),
  };
}

for (const form of [csvInGzip, ndjson])
  describeSourceContract(form.name, () => createFileDriver(form, makePlace));
