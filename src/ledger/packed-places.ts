/** The places of a batch's affected bookings, kept as 16-bit numbers, little-endian. */
export function packPlaces(places: readonly number[]): Buffer {
  const packed = Buffer.alloc(2 * places.length);
  for (const [index, place] of places.entries()) packed.writeUInt16LE(place, 2 * index);
  return packed;
}

export function unpackPlaces(packed: Buffer): number[] {
  return Array.from({ length: packed.length / 2 }, (_, index) => packed.readUInt16LE(2 * index));
}
