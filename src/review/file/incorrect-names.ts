import { createKeyTable } from './key-table.js';
import { createSentNameReader, forEachLine, keyFields } from './sent-names.js';

const comma = 0x2c;
/** With ten thousand incorrect rows, one in a hundred lines is looked at whole for nothing. */
const startFlags = 2 ** 20;

/**
 * The names that incorrect rows have, and who else has them: two rooms of one booking share a verdict. Names count
 * whole; flags of how their lines begin spare nearly all other lines the look.
 */
export function createIncorrectNames() {
  const readName = createSentNameReader(keyFields);
  const names = createKeyTable();
  const starts = new Uint8Array(startFlags);

  return {
    /** The name in the stored line that begins at `start`. */
    add(lines: Buffer, start: number): void {
      starts[flagOf(lines, start)] = 1;
      names.findOrAdd(readName(lines, start));
    },
    /** The places of the stored lines with such a name, counted from 0. */
    listPlaces(lines: Buffer): number[] {
      const places: number[] = [];
      forEachLine(lines, (start, place) => {
        if (starts[flagOf(lines, start)] === 1 && names.find(readName(lines, start)) !== undefined)
          places.push(place);
      });
      return places;
    },
  };
}

/** The same for all lines with the same master id and reference, wherever the second comma stands within quotes. */
function flagOf(lines: Buffer, start: number): number {
  let hash = 0;
  let commas = 0;
  for (let at = start; at < lines.length && commas < 2; at += 1) {
    const byte = lines[at] ?? 0;
    if (byte === comma) commas += 1;
    hash = Math.imul(hash ^ byte, 2654435761);
  }
  return hash >>> 12;
}
