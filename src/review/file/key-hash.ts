/** 64 bits of a key. */
export interface KeyHash {
  readonly high: number;
  readonly low: number;
}

/** Hashes the texts of one key after another; gives the same for a text and for its bytes in UTF-8. */
export interface KeyHasher extends KeyHash {
  /** Another key begins. */
  begin(): void;
  addText(text: string): void;
  /** The text in `bytes` from `from` to before `to`. */
  addBytes(bytes: Uint8Array, from: number, to: number): void;
}

/** Sets the texts of a key apart: it stands in none of them, being a control character. */
const gap = 0x1f;
const lastAscii = 0x7f;
const highFactor = 2654435761;
const lowFactor = 1597334677;

/** Two hashes of 32 bits, each over everything. */
export function createKeyHasher(): KeyHasher {
  let high = 0;
  let low = 0;

  function addBytes(bytes: Uint8Array, from: number, to: number): void {
    // In variables of its own: this loop runs once for nearly every byte of the file.
    let newHigh = high;
    let newLow = low;
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] ?? 0;
      newHigh = Math.imul(newHigh ^ byte, highFactor);
      newLow = Math.imul(newLow ^ byte, lowFactor);
    }
    high = Math.imul(newHigh ^ gap, highFactor);
    low = Math.imul(newLow ^ gap, lowFactor);
  }

  return {
    get high() {
      return scatter(high, low);
    },
    get low() {
      return scatter(low, high);
    },
    begin() {
      high = 0xdeadbeef;
      low = 0x41c6ce57;
    },
    addBytes,
    addText(text) {
      let newHigh = high;
      let newLow = low;
      for (let at = 0; at < text.length; at += 1) {
        const unit = text.charCodeAt(at);
        if (unit > lastAscii) {
          const bytes = Buffer.from(text);
          addBytes(bytes, 0, bytes.length);
          return;
        }
        newHigh = Math.imul(newHigh ^ unit, highFactor);
        newLow = Math.imul(newLow ^ unit, lowFactor);
      }
      high = Math.imul(newHigh ^ gap, highFactor);
      low = Math.imul(newLow ^ gap, lowFactor);
    },
  };
}

/** Makes every bit of a hash depend on every bit of both. */
function scatter(hash: number, other: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 2246822507);
  mixed ^= Math.imul(other ^ (other >>> 13), 3266489909);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
