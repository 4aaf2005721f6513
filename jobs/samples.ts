import { sampleFile } from '../src/setup/samples/file-sample.js';
import { sampleHttp } from '../src/setup/samples/http-sample.js';
import { sampleModule } from '../src/setup/samples/module-sample.js';
import type { SampleDay } from '../src/setup/samples/sample.js';
import { sampleSql } from '../src/setup/samples/sql-sample.js';
import { openDayFile } from './day-files.js';
import { openModuleVoice } from './module-voice.js';
import { type SourceSettings, type SourceVoice, toHttpOptions } from './sources.js';

/** What takes samples of the source that is configured, by the same way as a run reads it. */
export function openSampler({ source, s3, retry }: SourceSettings, voice: SourceVoice): SampleDay {
  switch (source.kind) {
    case 'csv':
    case 'ndjson':
      return sampleFile(openDayFile(source, { s3 }), source.kind);
    case 'http':
      return sampleHttp(toHttpOptions(source, { retry }, voice));
    case 'module':
      return sampleModule({ ...source, ...openModuleVoice(source.path, voice) });
    case 'sql':
      return sampleSql(source);
  }
}
