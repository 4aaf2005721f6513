import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mailOf } from '../cases/mails/mails.js';
import { day, prepareDay } from '../support/day-folder.js';
import { findText } from '../support/found-text.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

const reference = 'BR-1007';

it('a guest who is erased with everything stands nowhere but in the files of others, and no dry run of a large day brings the name back', async () => {
  const { folder } = await prepareDay({
    bookings: toCsv(makeBookings(20, { first: 1_001 })),
    settings: { hashKey: 'a key of the tests', body: { batchSize: 5_000 } },
  });
  const mail = join(folder.path, 'incorrect.eml');
  await writeFile(mail, mailOf('text/plain', `Incorrect: ${reference}\r\n`));
  for (const words of [
    ['run', day],
    ['verdicts', 'import', mail],
    ['show', reference],
  ])
    expect([words, (await folder.run(words)).exitCode]).toEqual([words, 0]);
  // What nobody has may be a name that was typed.
  expect((await folder.run(['guest', 'export', 'Zoe Nobody'])).exitCode).toBe(1);
  expect(findText(join(folder.path, 'data'), reference)).not.toEqual([]);
  const erase = ['guest', 'erase', reference, '--all', '--reason', 'asked', '--json'];
  expect(await folder.run(erase)).toMatchObject({ exitCode: 0, json: { all: true, left: [] } });
  expect(findText(folder.path, reference).sort()).toEqual([folder.bookingsFile, mail]);
  expect(findText(folder.path, 'Zoe Nobody')).toEqual([]);

  // Large enough to be read in a thread.
  await folder.writeBookings(toCsv(makeBookings(70_000, { first: 1_001 })));
  const dryRun = await folder.run(['run', day, '--dry-run', '--out', 'out', '--json']);
  expect(dryRun).toMatchObject({ exitCode: 0, json: { counts: { accepted: 70_000 } } });
  expect(findText(join(folder.path, 'out'), 'Guest 1008"')).not.toEqual([]);
  expect(findText(join(folder.path, 'out'), 'Guest 1007"')).toEqual([]);
});
