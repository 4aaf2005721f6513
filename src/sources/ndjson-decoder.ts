import {
  type SourceColumns,
  SourceError,
  type SourceRecord,
  type UnreadableReason,
} from '../review/source.js';
import type { FileDecoder } from './decoded-file.js';
import { type CutLine, createLineCutter } from './line-cutter.js';
import { createMemberPicker } from './member-picker.js';
import { createTextGate, explainBinary } from './text-gate.js';

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
