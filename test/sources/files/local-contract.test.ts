import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalDayFile } from '../../../src/sources/files/day-file.js';
import { describeSourceContract } from '../../contracts/source.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { csvInGzip, type FilePlace, ndjson, prepareFiles } from './file-driver.js';
import { canCountDescriptors, countDescriptors } from './open-descriptors.js';

function makePlace(): FilePlace {
  const root = makeTemporaryFolder();
  return {
    file: createLocalDayFile(join(root, 'bookings-{day}')),
    lay: (day, content) => writeFile(join(root, `bookings-${day}`), content),
    ...(canCountDescriptors && { held: () => countDescriptors(root) }),
  };
}

for (const form of [csvInGzip, ndjson]) describeSourceContract(form.name, prepareFiles(form, makePlace));
