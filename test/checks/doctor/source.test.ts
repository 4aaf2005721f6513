import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createNormaliser } from '../../../src/booking/normalise.js';
import { source } from '../../../src/checks/doctor/source.js';
import { openSource } from '../../../src/sources/registry.js';
import { bookingsHeader } from '../../support/made-bookings.js';
import { openTestParts } from '../../support/source-parts.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { lines, look, makeApp } from './checked.js';

const booking = (guest: string, state: string) =>
  `7,BR-1,${guest},Expedia,7,2026-12-01,2026-12-02,${state}\n`;
const written = `${bookingsHeader},Status\n${booking('Jörg Åse', 'CONF')}${booking('Ana', 'CANC')}`;

it.each<[string, Buffer, readonly string[]]>([
  ['what is cancelled', Buffer.from(written), ['ok', 'warning 1 of the first 2 records look cancelled']],
  ['another encoding', Buffer.from(written, 'latin1'), ['wrong ', 'wrong FILE is not UTF-8']],
])('doctor reads the first bookings, and finds %s', async (_, content, expected) => {
  const path = join(makeTemporaryFolder(), '{day}.csv');
  const file = path.replace('{day}', '2026-11-20');
  writeFileSync(file, content);
  const { config } = makeApp({ source: { kind: 'csv', path } });
  const sourceParts = openTestParts(config);
  const opened = await openSource(config.source, sourceParts);
  const reading = { source: opened, normaliserFor: () => createNormaliser(), extraLabels: [] };
  const found = lines(
    await look(
      source,
      makeApp({ source: { kind: 'csv', path } }, { sourceParts, openSource: async () => reading }),
    ),
  );
  const said = found.map((line) => line.replace('source: ', '').replaceAll(file, 'FILE'));
  expect(said).toEqual(expected.map((words) => expect.stringContaining(words)));
});
