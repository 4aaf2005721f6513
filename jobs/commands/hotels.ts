import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { showInLine } from '../../src/base/foreign-text.js';
import { formatCount, formatCountOf } from '../../src/base/format.js';
import { UsageError } from '../../src/base/safe-error.js';
import { renderTable } from '../../src/base/tables.js';
import type { Config } from '../../src/config/load.js';
import { type LoadedHotels, loadedHotelsToJson, loadHotels } from '../../src/mappings/hotels/load-hotels.js';
import { unpack } from '../../src/sources/files/day-file.js';
import type { App } from '../app.js';
import { clock } from '../clock.js';
import { type AnyCommand, command } from '../command.js';

const load = command({
  summary: 'load a content file (CSV, also gzip) into the local copy; export fetch does this automatically',
  usage: '<file>',
  arguments: (name: string) => ({ name }),
  examples: `
Either all hotels of the file are replaced at the same moment, or none. A hotel
that the file does not name keeps what an earlier file said.

Examples:
  hotel-review hotels load acme_hotels_0b2f.csv
  hotel-review hotels load acme_hotels_0b2f.csv.gz --json`,

  async run(app, { name }) {
    const content = await findContentFile(app, name);
    const loaded = await loadContent(app, name, content());
    return app.answer(describeLoaded(loaded), loadedHotelsToJson(loaded));
  },
});

const blockBytes = 65_536;

/**
 * @param file as it was typed
 * @returns reads its bytes from the start, decompressed if it is gzip
 * @throws UsageError if it is not a readable file
 */
async function findContentFile(
  { locate, signal }: App,
  file: string,
): Promise<() => AsyncIterable<Uint8Array>> {
  const what = 'the content file of an export';
  const path = locate(file);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} can't be read (${error.code ?? error.name}); name ${what}`);
  });
  if (!found.isFile()) throw new UsageError(`${file} is not a file; name ${what}`);
  return () =>
    unpack(createReadStream(path, { highWaterMark: blockBytes }), { path: file, blockBytes, signal });
}

/** Loads a content file, from the command line or of an export. */
export async function loadContent(
  { config, ledger, signal }: App,
  file: string,
  content: AsyncIterable<Uint8Array>,
): Promise<LoadedHotels> {
  const { hotels } = await ledger();
  return loadHotels(
    { file, content, masterIdNames: listMasterIdNames(config) },
    { hotels, clock, createId: randomUUID },
    signal,
  );
}

/** The specification says ServiceId; a deployment with another name in JSON may use that one in files, too. */
export function listMasterIdNames({ service: { masterIdName } }: Config): readonly string[] {
  return [...new Set([masterIdName, 'ServiceId'])];
}

/** How many unreadable rows are shown to a person. */
const oddRowsShown = 5;

export function describeLoaded({ load: loaded, ...counts }: LoadedHotels): string[] {
  const { rows, repeated, withoutCoordinates, skipped, skippedRows } = counts;
  const others: readonly (readonly [string, number])[] = [
    ['repeated: a later row names the same hotel and counts', repeated],
    ['without usable coordinates', withoutCoordinates],
    ['only in earlier files: kept as they were', loaded.kept],
    ['skipped, because they could not be read', skipped],
  ];
  return [
    `The content of ${formatCountOf(loaded.hotels, 'hotel')} is loaded from ${showInLine(loaded.file)}, ${formatCountOf(rows, 'row')}.`,
    ...others
      .filter(([, count]) => count > 0)
      .map(([what, count]) => renderTable([[what, formatCount(count)]])),
    ...skippedRows.slice(0, oddRowsShown).map(({ row, reason }) => `  row ${row}: ${reason}`),
  ];
}

export default {
  place: ['mappings', 3],
  summary: 'manage names, places and phones of master hotels, from the content file of an export',
  examples: `
With them, \`affected\`, \`show\` and \`mappings show\` name the hotels, and say how
far apart they are.

Examples:
  hotel-review hotels load acme_hotels_0b2f.csv`,
  commands: { load },
} satisfies AnyCommand;
