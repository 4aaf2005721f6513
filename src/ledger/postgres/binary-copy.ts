import { toStorable } from '../storable-text.js';

/** A value of a row that is copied, with the type of its column. */
export type CopiedValue =
  | { readonly integer: number | null }
  | { readonly bigint: number | null }
  | { readonly text: string | null }
  | { readonly bytes: Buffer };

export type CopiedRow = readonly CopiedValue[];

const header = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const trailer = Buffer.from([0xff, 0xff]);
const nothing = Buffer.alloc(0);

/** Small values are gathered up to this size before they go; bytes go as they are. */
const gatheredBytes = 65_536;

/** Rows in the binary format of PostgreSQL's COPY. */
export function* encodeRows(rows: Iterable<CopiedRow>): Generator<Buffer> {
  let gathered: Buffer[] = [header];
  let size = 0;
  for (const row of rows) {
    gathered.push(int16(row.length));
    for (const value of row) {
      const encoded = encodeValue(value);
      gathered.push(int32(encoded === null ? -1 : encoded.length), encoded ?? nothing);
      size += encoded?.length ?? 0;
    }
    if (size < gatheredBytes) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    size = 0;
  }
  yield Buffer.concat([...gathered, trailer]);
}

function encodeValue(value: CopiedValue): Buffer | null {
  if ('bytes' in value) return value.bytes;
  if ('text' in value) return value.text === null ? null : Buffer.from(toStorable(value.text));
  if ('integer' in value) return value.integer === null ? null : int32(value.integer);
  if (value.bigint === null) return null;
  const encoded = Buffer.allocUnsafe(8);
  encoded.writeBigInt64BE(BigInt(value.bigint));
  return encoded;
}

function int16(value: number): Buffer {
  const encoded = Buffer.allocUnsafe(2);
  encoded.writeInt16BE(value);
  return encoded;
}

function int32(value: number): Buffer {
  const encoded = Buffer.allocUnsafe(4);
  encoded.writeInt32BE(value);
  return encoded;
}
