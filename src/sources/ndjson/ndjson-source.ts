import type { Encoding } from '../../base/encoding.js';
import type { UnreadableReason } from '../../booking/normalise.js';
import { type BookingSource, SourceError, type SourceRecord } from '../../booking/source.js';
import type { WantedColumns } from '../common/columns.js';
import type { SourceParts } from '../common/kind.js';
import { listMembers, type Sample, type SampleDay, sampleRecords, toMemberSample } from '../common/sample.js';
import type { DayFile } from '../files/day-file.js';
import { sampleFile } from '../files/sample.js';
import { convertText, createTextGate, decodeFile, type FileDecoder } from '../files/text-file.js';
import { createJsonPicker, type JsonPicker, parseJson } from '../json/json-text.js';
import type { NdjsonSettings } from './kind.js';

export interface NdjsonSourceOptions extends WantedColumns {
  readonly file: DayFile;
  /** UTF-8 by default. A byte order mark takes precedence. */
  readonly encoding?: Encoding;
  /** How many bytes to read at a time, which also sets the size of a chunk; 128 KiB by default. */
  readonly blockBytes?: number;
  /** A line with more bytes is skipped and reported; 1 MB by default. */
  readonly recordLimit?: number;
}

/**
 * Reads the day's bookings from a file with one JSON object per line, optionally compressed with gzip. `place` is
 * the line, counted from 1. Values are as in JSON; a number that JavaScript can't represent is NaN. An absent field is
 * undefined, and an extra column that no object of the file has is reported in a notice after the last record. Blank lines are
 * skipped; a file of blank lines only is a day without bookings.
 *
 * A line that is not a JSON object, is too long, or has a needed member twice is reported in its place, and reading
 * continues. If the file as a whole can't be trusted, `read` throws a SourceError: `missing`, `unreadable`, `empty` (zero
 * bytes), `binary`, `wrong-encoding`, `truncated` (incomplete gzip data, or an incomplete last line), `missing-member` (after the last record: no
 * object has the member for a field).
 */
export function createNdjsonSource(options: NdjsonSourceOptions): BookingSource {
  const { file, encoding = 'utf-8', blockBytes = 128 * 1024, recordLimit } = options;
  return {
    locate: file.locate,
    placeUnit: 'line',
    measure: file.measure,
    async *read(day, { signal }) {
      const path = file.locate(day);
      const picker = createJsonPicker(options);
      const decoder = convertText(createNdjsonDecoder(picker, { path, recordLimit }), path, encoding);
      yield* decodeFile(file.read(day, { blockBytes, signal }), decoder, signal);
      picker.requireFields(path);
    },
  };
}

const blank = /^[ \t\r]*$/;

/** The error for a file without any text. */
function explainEmptyNdjson(path: string): SourceError {
  return new SourceError('empty', `${path} is empty: a day without bookings has at least a blank line`);
}

/**
 * Decodes UTF-8 without a byte order mark. Notices come at the end: only then is it known which members no object has.
 *
 * @param options.path for messages
 */
export function createNdjsonDecoder(
  picker: JsonPicker,
  { path, recordLimit = 1_000_000 }: { readonly path: string; readonly recordLimit?: number | undefined },
): FileDecoder {
  const gate = createTextGate(path);
  let isEmpty = true;
  /** The current line. */
  let line = 1;
  let pending = '';
  let isTooLong = false;

  /** Lines end with LF or CRLF; a lone CR is an ordinary character. */
  function readLine(text: string): SourceRecord | undefined {
    const place = line;
    const isHeld = !isTooLong && Buffer.byteLength(text) <= recordLimit;
    line += 1;
    isTooLong = false;
    if (!isHeld) return { place, unreadable: 'record-too-long' };
    return !text.startsWith('{') && blank.test(text) ? undefined : picker.pick(place, text);
  }

  /** For an incomplete last line: the rest of the day may be missing with the rest of the line. */
  function refuseCutOff(line: number, reason: string): never {
    throw new SourceError(
      'truncated',
      `${path}, line ${line}: the file ends there without a line end, and that line can't be read (${reason}): is the file cut off, or still being written?`,
    );
  }

  return {
    decode(block) {
      const bytes = gate.pass(block, () => line);
      if (bytes.length > 0) isEmpty = false;
      const lines = (pending + bytes.toString()).split('\n');
      pending = lines.pop() ?? '';
      const records = lines.map((text) => readLine(text.endsWith('\r') ? text.slice(0, -1) : text));
      // One byte over the limit may still be the CR of the line end.
      if (isTooLong || pending.length > recordLimit + 1) {
        isTooLong = true;
        pending = '';
      }
      return { records: records.filter((record) => record !== undefined), notices: [] };
    },
    end() {
      if (gate.endsInsideCharacter()) refuseCutOff(line, 'half a character');
      if (isEmpty) throw explainEmptyNdjson(path);
      const record = isTooLong || pending !== '' ? readLine(pending) : undefined;
      if (record && 'unreadable' in record && couldBeCutOff(record.unreadable)) {
        refuseCutOff(record.place, record.unreadable);
      }
      return {
        records: record ? [record] : [],
        notices: picker.findAbsent(),
      };
    },
  };
}

function couldBeCutOff(reason: UnreadableReason): boolean {
  return reason === 'malformed-json' || reason === 'record-too-long';
}

export function sampleNdjson(settings: NdjsonSettings, parts: SourceParts): SampleDay {
  return sampleFile(settings, parts, readNdjsonSample, explainEmptyNdjson);
}

/** Samples the lines that are JSON objects. */
function readNdjsonSample(text: string): Sample {
  return toMemberSample(
    text
      .split('\n')
      .slice(0, sampleRecords)
      .map((line) => listMembers(parseJson(line))),
  );
}
