import { createHash } from 'node:crypto';
import { readCsvRecords } from './csv-records.js';
import { checkHeader } from './export-columns.js';
import { ExportFileError } from './export-file-error.js';
import type { ExportFileKind, FetchedFile } from './export-log.js';
import { type CsvFault, createRecordCounter } from './record-counter.js';

export interface InspectedFile extends FetchedFile {
  /** Columns that the specification does not know. */
  readonly extraColumns: readonly string[];
  /** Its last line is not ended: more may have been meant to come. */
  readonly endsInMidLine: boolean;
}

/**
 * Reads a file of an export whole: counts its rows and bytes, and checks its header. (Spec 2.7.)
 *
 * @throws ExportFileError; what `content` throws
 */
export async function inspectFile(
  file: { readonly kind: ExportFileKind; readonly name: string },
  content: AsyncIterable<Uint8Array>,
  masterIdNames: readonly string[],
): Promise<InspectedFile> {
  const counter = createRecordCounter();
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const block of content) {
    hash.update(block);
    bytes += block.length;
    counter.take(block);
  }
  const { header, records, fault, endsWithLine } = counter.end();
  if (fault !== undefined) throw new ExportFileError(file.name, describeFault(fault));
  if (records === 0) throw new ExportFileError(file.name, 'expected a header, got: an empty file');
  const { kind, name } = file;
  return {
    kind,
    name,
    rows: records - 1,
    bytes,
    sha256: hash.digest('hex'),
    extraColumns: checkHeader(file, await readHeader(header), masterIdNames),
    endsInMidLine: !endsWithLine,
  };
}

async function readHeader(bytes: Uint8Array): Promise<readonly string[]> {
  for await (const [header] of readCsvRecords(blocksOf(bytes))) if (header) return header;
  return [];
}

async function* blocksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function describeFault(fault: CsvFault): string {
  switch (fault) {
    case 'binary':
      return 'expected text, got: binary data';
    case 'endless-header':
      return 'expected a header, got: a first line of more than 1 MB';
    case 'open-quotes':
      return 'expected a quote that closes its last cell, got: the end of the file';
  }
}
