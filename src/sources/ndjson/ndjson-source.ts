import {
  type BookingSource,
  type SourceColumns,
  SourceError,
  type SourceRecord,
  type UnreadableReason,
} from '../../review/source.js';
import type { DayFile } from '../files/day-file.js';
import { createTextGate, decodeFile, explainBinary, type FileDecoder } from '../files/text-file.js';
import { createMemberPicker } from '../json/member-picker.js';

export interface NdjsonSourceOptions {
  readonly file: DayFile;
  /** The member of each field, where it is not the field's own name; `guest.name` is one in a nested object. */
  readonly columns?: SourceColumns;
  /** How many bytes are read at a time, and so how large a chunk is; 128 KiB if not given. */
  readonly blockBytes?: number;
  /** A line of more bytes is skipped and reported; 1 MB if not given. (Design 4.) */
  readonly recordLimit?: number;
}

/**
 * The day's bookings in a file of one JSON object a line: UTF-8, compressed with gzip or not. `place` is the line of the
 * file, counted from 1. Values are as JSON has them; a number that JavaScript can't hold is NaN. A field whose member is
 * absent is undefined, and one that no object of the file has is told in a notice behind the last record. Blank lines are
 * skipped, and a file of nothing else is a day without bookings.
 *
 * A line that is no JSON object, is too long, or has a needed member twice is reported in its place and the rest goes on; a
 * file that can't be trusted as a whole makes `read` throw a SourceError: `missing`, `unreadable`, `empty` (zero bytes),
 * `binary`, `truncated` (a cut gzip, or a last line that is neither whole nor ended).
 */
export function createNdjsonSource(options: NdjsonSourceOptions): BookingSource {
  const { file, columns = {}, blockBytes = 128 * 1024, recordLimit = 1_000_000 } = options;
  return {
    locate: file.locate,
    placeUnit: 'line',
    measure: file.measure,
    read(day, { signal }) {
      const decoder = createNdjsonDecoder({ path: file.locate(day), columns, recordLimit });
      return decodeFile(file.read(day, { blockBytes, signal }), decoder, signal);
    },
  };
}

export interface NdjsonDecoderOptions {
  /** For messages. */
  readonly path: string;
  readonly columns: SourceColumns;
  /** A longer line is skipped, in bytes. */
  readonly recordLimit: number;
}

const blank = /^[ \t\r]*$/;

/** The error for a file without a byte of text. */
export function explainEmptyNdjson(path: string): SourceError {
  return new SourceError('empty', `${path} is empty: a day without bookings has at least a blank line`);
}

/** The notices come with the end: only then is it known what no object had. */
export function createNdjsonDecoder({ path, columns, recordLimit }: NdjsonDecoderOptions): FileDecoder {
  const gate = createTextGate();
  const cutter = createLineCutter(recordLimit);
  const picker = createMemberPicker(columns);
  let isEmpty = true;

  function readLine({ line, bytes }: CutLine): SourceRecord | undefined {
    if (bytes === undefined) return { place: line, unreadable: 'record-too-long' };
    const text = bytes.toString();
    if (!text.startsWith('{') && blank.test(text)) return undefined;
    const picked = picker.pick(text);
    return typeof picked === 'string' ? { place: line, unreadable: picked } : { place: line, fields: picked };
  }

  /** Whatever lacks its line end and is not whole: the rest of the day may be missing with the rest of the line. */
  function refuseCutOff(line: number, reason: string): never {
    throw new SourceError(
      'truncated',
      `${path}, line ${line}: the file ends there without a line end, and that line can't be read (${reason}): is the file cut off, or still being written?`,
    );
  }

  return {
    decode(block) {
      const verdict = gate.pass(block);
      if (verdict.kind === 'binary') throw explainBinary(path, cutter.line + verdict.lineFeedsBefore);
      if (verdict.bytes.length > 0) isEmpty = false;
      const records: SourceRecord[] = [];
      for (const line of cutter.cut(verdict.bytes)) {
        const record = readLine(line);
        if (record) records.push(record);
      }
      return { records, notices: [] };
    },
    end() {
      if (gate.endsInsideCharacter()) refuseCutOff(cutter.line, 'half a character');
      if (isEmpty) throw explainEmptyNdjson(path);
      const last = cutter.end();
      const record = last && readLine(last);
      if (record && 'unreadable' in record && couldBeCutOff(record.unreadable)) {
        refuseCutOff(record.place, record.unreadable);
      }
      return {
        records: record ? [record] : [],
        notices: picker.absentColumns().map((column) => ({ kind: 'absent-column', column })),
      };
    },
  };
}

function couldBeCutOff(reason: UnreadableReason): boolean {
  return reason === 'malformed-json' || reason === 'record-too-long';
}

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const nothing: Buffer = Buffer.alloc(0);

/** A line without its line end; without its bytes too when it is longer than the limit. */
export interface CutLine {
  /** Counted from 1. */
  readonly line: number;
  readonly bytes: Buffer | undefined;
}

/** Cuts bytes into lines. They end with LF or CRLF; a lone CR is an ordinary character. */
export interface LineCutter {
  cut(block: Buffer): readonly CutLine[];
  /** What stands behind the last line end when the input has ended, if anything does. */
  end(): CutLine | undefined;
  /** The line on which the next block begins, counted from 1. */
  readonly line: number;
}

/** @param lineLimit in bytes, without the line end. Of a longer line no more than that is ever held. */
export function createLineCutter(lineLimit: number): LineCutter {
  let pending = nothing;
  let isDropped = false;
  let line = 1;

  function withinLimit(bytes: Buffer): Buffer | undefined {
    return isDropped || bytes.length > lineLimit ? undefined : bytes;
  }

  return {
    cut(block) {
      const bytes = pending.length === 0 ? block : Buffer.concat([pending, block]);
      const lines: CutLine[] = [];
      let start = 0;
      for (
        let end = bytes.indexOf(lineFeed, pending.length);
        end !== -1;
        end = bytes.indexOf(lineFeed, start)
      ) {
        const hasReturn = end > start && bytes[end - 1] === carriageReturn;
        lines.push({ line, bytes: withinLimit(bytes.subarray(start, hasReturn ? end - 1 : end)) });
        line += 1;
        start = end + 1;
        isDropped = false;
      }
      pending = bytes.subarray(start);
      // One byte more than the limit may still turn out to be the CR of the line end.
      if (isDropped || pending.length > lineLimit + 1) {
        isDropped = true;
        pending = nothing;
      }
      return lines;
    },
    end() {
      return isDropped || pending.length > 0 ? { line, bytes: withinLimit(pending) } : undefined;
    },
    get line() {
      return line;
    },
  };
}
