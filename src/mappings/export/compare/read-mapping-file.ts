import { OpenQuotesError, readCsvRecords } from '../csv-records.js';
import { ExportFileError } from '../export-file-error.js';
import { createMappingReader, type ExportedMapping } from './exported-mapping.js';

/** Some rows of the file that follow on one another. */
export interface MappingRows {
  readonly mappings: readonly ExportedMapping[];
  /** The numbers of rows that name no provider's hotel, or have too few cells. */
  readonly unreadable: readonly number[];
}

/**
 * Reads the rows of a mapping file. (Spec 2.7.)
 *
 * @param file its name, for messages
 * @throws ExportFileError when it is none; the signal's reason
 */
export async function* readMappingFile(
  file: string,
  content: AsyncIterable<Uint8Array>,
  masterIdNames: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<MappingRows, void, undefined> {
  let read: ReturnType<typeof createMappingReader> | undefined;
  let row = 0;
  try {
    for await (const records of readCsvRecords(content)) {
      signal.throwIfAborted();
      const mappings: ExportedMapping[] = [];
      const unreadable: number[] = [];
      for (const cells of records) {
        if (!read) {
          read = createMappingReader(file, cells, masterIdNames);
          continue;
        }
        row += 1;
        const mapping = read(cells, row);
        if (mapping) mappings.push(mapping);
        else unreadable.push(row);
      }
      yield { mappings, unreadable };
    }
  } catch (error) {
    if (!(error instanceof OpenQuotesError)) throw error;
    throw new ExportFileError(file, `a quote is not closed behind row ${row}: ${error.message}`);
  }
  if (!read) throw new ExportFileError(file, 'expected the header of a mapping file, got: an empty file');
}
