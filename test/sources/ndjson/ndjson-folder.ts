import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { SourceChunk } from '../../../src/booking/source.js';
import { createLocalDayFile } from '../../../src/sources/files/day-file.js';
import { createNdjsonSource, type NdjsonSourceOptions } from '../../../src/sources/ndjson/ndjson-source.js';
import { columnsIn } from '../../support/source-columns.js';
import { listRecords } from '../../support/source-records.js';
import { day } from '../csv/csv-folder.js';

interface Options extends Omit<NdjsonSourceOptions, 'file'> {
  /** Called with each chunk, also of a day that then fails. */
  readonly onChunk?: (chunk: SourceChunk) => void;
}

/** Creates a folder for each test of the calling file, and reads the day's file in it. */
export function useNdjsonFolder() {
  let folder = '';
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'ndjson-source-')));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  return {
    /** Writes the day's file and reads it, saying which fields it lacks. */
    async readFile(content: string | Buffer, options: Options = {}) {
      await writeFile(join(folder, '2026-11-20.ndjson'), content);
      const source = createNdjsonSource({
        file: createLocalDayFile(join(folder, '{day}.ndjson')),
        ...options,
        columns: columnsIn(content, options.columns),
      });
      const chunks: SourceChunk[] = [];
      for await (const chunk of source.read(day, { signal: new AbortController().signal })) {
        options.onChunk?.(chunk);
        chunks.push(chunk);
      }
      return {
        chunks,
        records: listRecords(chunks),
        notices: chunks.flatMap((chunk) => chunk.notices ?? []),
      };
    },
  };
}
