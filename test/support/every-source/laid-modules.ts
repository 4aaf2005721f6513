import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { day } from '../made-bookings.js';
import type { HurtfulRecord } from './hurtful-day.js';
import { byNumber, type LaidDay, makeFolder } from './review-laid-day.js';
import { fieldNames, valuesOf } from './written-days.js';

/** Bigints are kept, except for some that become text or, where safe, numbers. Nothing is null or undefined. */
const code = (isTyped: boolean) => `
import { readFile } from 'node:fs/promises';
${isTyped ? "import type { Bookings } from 'booked-hotel-review';\ntype Cell = string | null;\n" : ''}
const names = ${JSON.stringify(fieldNames)};

export ${isTyped ? 'const bookings: Bookings = async function*' : 'async function* bookings'} (day, { signal, options }) {
  if (day.iso !== '${day}') return;
  const rows${isTyped ? ': Cell[][]' : ''} = JSON.parse(await readFile(String(options.rows), { encoding: 'utf8', signal }));
  let atOnce${isTyped ? ': object[]' : ''} = [];
  for (const [index, row] of rows.entries()) {
    const cells = row.map((cell, at) => {
      if (cell === null) return index % 2 === 0 ? null : undefined;
      if (at > 1 || index % 5 === 0) return cell;
      return Number.isSafeInteger(Number(cell)) && index % 3 === 0 ? Number(cell) : BigInt(cell);
    });
    const booking = Object.fromEntries(names.map((name, at) => [name, cells[at]]));
    if (index < 100) {
      yield booking;
      continue;
    }
    atOnce.push(booking);
    if (atOnce.length === 170 || index === rows.length - 1) {
      yield atOnce;
      atOnce = [];
    }
  }
}
`;

export async function layInModule(
  records: readonly HurtfulRecord[],
  language: 'JavaScript' | 'TypeScript',
): Promise<LaidDay> {
  const folder = await makeFolder();
  const rows = records.map((record) => valuesOf(record).map((value) => value?.toString() ?? null));
  await writeFile(join(folder, 'rows.json'), JSON.stringify(rows));
  const path = join(folder, language === 'TypeScript' ? 'bookings.ts' : 'bookings.mjs');
  await writeFile(path, code(language === 'TypeScript'));
  const source = { kind: 'module', path, options: { rows: join(folder, 'rows.json') } };
  return { settings: { source }, recordAt: byNumber };
}
