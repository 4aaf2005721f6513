/** What can be wrong with the content of a single cell. */
export type CellFault =
  | 'wrong-header'
  | 'blank-cell'
  | 'reads-as-null'
  | 'invalid-service-id'
  | 'invalid-date';

/** Judges a cell's content: the bytes from `start` up to `end`, without the quotes around it. */
export type CellCheck = (bytes: Buffer, start: number, end: number) => CellFault | undefined;

const zero = 0x30;
const nullWord = /^(?:null|none|undefined|nan)$/i;
/**
 * By a cell's first byte: 1 where it may turn out to be blank or a word for "no value". These are the letters that such
 * words begin with, the space, and the first bytes of Unicode's white space in UTF-8.
 */
const suspect = Uint8Array.from({ length: 0x100 }, (_, byte) =>
  [...Buffer.from('nNuU '), 0xc2, 0xe1, 0xe2, 0xe3, 0xef].includes(byte) ? 1 : 0,
);

/** Makes the check of a header's cell: exactly this name. */
export function createNameCheck(name: string): CellCheck {
  return (bytes, start, end) =>
    bytes.toString('utf8', start, end).replaceAll('""', '"') === name ? undefined : 'wrong-header';
}

/** Not blank, and nothing that is read as null, white space around it aside. (Spec 4.3, file rule 4.) */
export const checkText: CellCheck = (bytes, start, end) => {
  if (start === end) return 'blank-cell';
  if (suspect[bytes[start] ?? 0] === 0) return undefined;
  const text = bytes.toString('utf8', start, end).trim();
  if (text === '') return 'blank-cell';
  return nullWord.test(text) ? 'reads-as-null' : undefined;
};

/** Digits, 1 to 2^53-1, no leading zero. */
export const checkServiceId: CellCheck = (bytes, start, end) => {
  const id = readDigits(bytes, start, end);
  if (id >= 1 && id <= Number.MAX_SAFE_INTEGER && bytes[start] !== zero) return undefined;
  return checkText(bytes, start, end) ?? 'invalid-service-id';
};

/** A calendar date as DDMMYYYY. */
export const checkDate: CellCheck = (bytes, start, end) => {
  if (end - start === 8 && isWrittenDay(readDigits(bytes, start, end))) return undefined;
  return checkText(bytes, start, end) ?? 'invalid-date';
};

/** NaN for anything but ASCII digits. */
function readDigits(bytes: Buffer, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - zero;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}

function isWrittenDay(ddmmyyyy: number): boolean {
  const day = Math.floor(ddmmyyyy / 1_000_000);
  const month = Math.floor(ddmmyyyy / 10_000) % 100;
  const year = ddmmyyyy % 10_000;
  return year >= 1 && day >= 1 && day <= daysIn(month, year);
}

function daysIn(month: number, year: number): number {
  switch (month) {
    case 2:
      return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
    case 4:
    case 6:
    case 9:
    case 11:
      return 30;
    default:
      return month >= 1 && month <= 12 ? 31 : 0;
  }
}
