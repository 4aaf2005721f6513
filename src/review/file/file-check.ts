import { createHash } from 'node:crypto';
import { bookingFields, type FieldKind, textFields } from '../../booking/booking.js';
import { createLineCutter, lineEnd } from './csv.js';
import {
  allowEmpty,
  type CellCheck,
  checkDate,
  checkServiceId,
  checkText,
  createNameCheck,
  findLineFault,
  type LineFaultCode,
} from './line-check.js';

/** Why a review file must not be sent. Never contains a cell's content. */
export interface FileFault {
  readonly code: FileFaultCode;
  /** The booking's number in the file, counted from 1; 0 for the header. */
  readonly row: number;
  /** The column's name, if a single cell is at fault. */
  readonly column?: string;
}

export type FileFaultCode =
  | LineFaultCode
  | 'byte-order-mark'
  | 'line-too-long'
  | 'unterminated-line'
  | 'wrong-row-count'
  | 'wrong-checksum';

export interface ExpectedReviewFile {
  /** The name of the first column, a setting. */
  readonly masterIdColumn: string;
  /** The number of bookings, without the header. */
  readonly rows: number;
  /** Of the whole file, in hexadecimal. */
  readonly sha256: string;
  /** Whether missing fields are empty cells; by default no cell may be empty. The master id never may. */
  readonly mayBeEmpty?: boolean;
}

const checksOfKinds: Readonly<Record<FieldKind, CellCheck>> = {
  id: checkServiceId,
  code: checkText,
  text: checkText,
  'guest-name': checkText,
  date: checkDate,
};
const strictChecks = bookingFields.map(({ kind }) => checksOfKinds[kind]);
const checksWithEmptyCells = bookingFields.map(({ kind }) =>
  kind === 'id' ? checksOfKinds[kind] : allowEmpty(checksOfKinds[kind]),
);
const byteOrderMark = Buffer.from('\ufeff');
const lineFeed = lineEnd.charCodeAt(0);
/** Longer than any valid line: records over 1 MB never become bookings. (Design 4.) */
const longestLine = 8 * 1024 * 1024;

/**
 * Checks a finished review file byte by byte and returns its first fault, or undefined. The rules are those of spec
 * 2.6 and 4.3 and design 4: strict RFC 4180, UTF-8 without byte order mark or control characters, `lineEnd` after
 * each line, the expected number of rows and checksum.
 *
 * To find the writer's mistakes, it shares only the line end and the table of fields with the writer. It holds no
 * more than a block and a line. Errors of `bytes` are rethrown.
 */
export async function checkReviewFile(
  bytes: AsyncIterable<Uint8Array>,
  expected: ExpectedReviewFile,
): Promise<FileFault | undefined> {
  const hash = createHash('sha256');
  const columns = [expected.masterIdColumn, ...textFields.map(({ name }) => name)];
  const lines = createLineWalk(columns, expected.mayBeEmpty ? checksWithEmptyCells : strictChecks);
  for await (const block of bytes) {
    hash.update(block);
    const fault = lines.take(block);
    if (fault) return fault;
  }
  const { fault, rows } = lines.end();
  if (fault) return fault;
  if (rows !== expected.rows) return { code: 'wrong-row-count', row: rows };
  return hash.digest('hex') === expected.sha256 ? undefined : { code: 'wrong-checksum', row: rows };
}

function createLineWalk(columns: readonly string[], bookingChecks: readonly CellCheck[]) {
  const headerChecks = columns.map(createNameCheck);
  const cutter = createLineCutter();
  let row = 0;

  function findFault(lines: Buffer, start: number, end: number): FileFault | undefined {
    if (row === 0 && lines.subarray(start, start + byteOrderMark.length).equals(byteOrderMark))
      return { code: 'byte-order-mark', row };
    const fault = findLineFault(lines, start, end, row === 0 ? headerChecks : bookingChecks);
    if (!fault) return undefined;
    const code = row === 0 && fault.code === 'wrong-cell-count' ? 'wrong-header' : fault.code;
    const column = fault.column === undefined ? undefined : columns[fault.column];
    return column === undefined ? { code, row } : { code, row, column };
  }

  return {
    take(block: Uint8Array): FileFault | undefined {
      for (const lines of cutter.cut(block))
        for (let start = 0; start < lines.length; row += 1) {
          const end = lines.indexOf(lineFeed, start);
          const fault = findFault(lines, start, end);
          if (fault) return fault;
          start = end + 1;
        }
      return cutter.pendingBytes > longestLine ? { code: 'line-too-long', row } : undefined;
    },
    end(): { readonly fault?: FileFault; readonly rows: number } {
      const rows = Math.max(0, row - 1);
      if (cutter.pendingBytes > 0) return { fault: { code: 'unterminated-line', row }, rows };
      return row === 0 ? { fault: { code: 'wrong-header', row }, rows } : { rows };
    },
  };
}
