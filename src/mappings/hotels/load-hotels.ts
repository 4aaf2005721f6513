import { type HotelContent, type HotelLoad, LoadBusyError } from '../../ledger/hotels.js';
import type { Ledger } from '../../ledger/ledger.js';
import { ExportFileError } from '../export/inspect-file.js';
import { type ContentFile, type OddRow, readContentFile } from './read-content-file.js';

/** Hotels per transaction. */
const chunkSize = 5_000;
const removedAtOnce = 10_000;
const maxOddRowsListed = 100;
/** A few odd rows never fail a load, however small the file. */
const toleratedOddRows = 5;
/** With a larger share of odd rows, the file is broken. */
const toleratedOddShare = 0.1;

/** A load, and what the file's rows were. */
export interface LoadedHotels {
  readonly load: HotelLoad;
  /** Rows of the file, without the header. */
  readonly rows: number;
  /** Rows of a hotel that occurs again further down: the last row counts. */
  readonly repeated: number;
  /** Rows without usable coordinates. */
  readonly withoutCoordinates: number;
  /** Rows that could not be read. */
  readonly skipped: number;
  /** The first of them. */
  readonly skippedRows: readonly OddRow[];
}

export function loadedHotelsToJson({ load, ...counts }: LoadedHotels) {
  const { file, at, finishedAt, hotels, kept } = load;
  return {
    file,
    loadedAt: new Date(at).toISOString(),
    durationMs: finishedAt - at,
    hotels,
    kept,
    ...counts,
  };
}

/**
 * Loads a content file in constant memory. Until it is complete, everybody sees the content as it was before; a load that was
 * interrupted starts over.
 *
 * @throws LoadBusyError; ExportFileError when it is not a content file; the signal's reason
 */
export async function loadHotels(
  file: ContentFile,
  parts: {
    readonly hotels: Ledger['hotels'];
    /** Epoch milliseconds. */
    readonly clock: () => number;
    readonly createId: () => string;
  },
  signal: AbortSignal,
): Promise<LoadedHotels> {
  const { hotels, clock } = parts;
  const hold = await hotels.holdLoad();
  if (!hold) throw new LoadBusyError('another process is loading the content of the hotels; try again later');
  const stop = AbortSignal.any([signal, hold.lost]);
  try {
    // Leftovers of interrupted loads.
    await removeUnseen(hotels, stop);
    const id = parts.createId();
    await hotels.beginLoad({ id, file: file.file, at: clock() });
    const counts = await addRows(file, id, hotels, stop);
    const load = await hotels.finishLoad(id, clock());
    await removeUnseen(hotels, stop);
    return { load, repeated: counts.rows - counts.skipped - load.hotels, ...counts };
  } finally {
    await hold.release();
  }
}

async function removeUnseen(hotels: Ledger['hotels'], signal: AbortSignal): Promise<void> {
  while ((await hotels.removeUnseen(removedAtOnce)) === removedAtOnce) signal.throwIfAborted();
}

async function addRows(
  file: ContentFile,
  id: string,
  hotels: Ledger['hotels'],
  signal: AbortSignal,
): Promise<Omit<LoadedHotels, 'load' | 'repeated'>> {
  const skippedRows: OddRow[] = [];
  let [after, skipped, withoutCoordinates] = [0, 0, 0];
  let chunk: HotelContent[] = [];

  async function addChunk(): Promise<void> {
    if (chunk.length > 0) await hotels.addHotels({ id, after, hotels: chunk });
    after += chunk.length;
    chunk = [];
  }

  for await (const rows of readContentFile(file, signal)) {
    for (const row of rows) {
      if ('reason' in row) {
        skipped += 1;
        if (skippedRows.length < maxOddRowsListed) skippedRows.push(row);
      } else {
        if (!row.coordinates) withoutCoordinates += 1;
        chunk.push(row);
      }
    }
    if (chunk.length >= chunkSize) await addChunk();
  }
  await addChunk();
  const rows = after + skipped;
  if (skipped > toleratedOddRows && skipped > rows * toleratedOddShare) {
    const [first] = skippedRows;
    throw new ExportFileError(
      file.file,
      `${skipped} of ${rows} rows can't be read, such as row ${first?.row} (${first?.reason}): more than a tenth, so the content of the hotels stays as it was`,
    );
  }
  return { rows, withoutCoordinates, skipped, skippedRows };
}
