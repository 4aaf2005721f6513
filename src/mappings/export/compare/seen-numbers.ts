const numbersInPage = 65_536;

export interface SeenNumbers {
  add(number: number): void;
  has(number: number): boolean;
  /** The first one that was not added, from that number on. */
  nextUnseen(from: number): number;
}

/** Remembers numbers, a bit for each, in memory that is taken where there are some. */
export function createSeenNumbers(): SeenNumbers {
  const pages = new Map<number, Uint8Array>();

  function has(number: number): boolean {
    const bit = number % numbersInPage;
    const byte = pages.get(Math.floor(number / numbersInPage))?.[bit >>> 3] ?? 0;
    return (byte & (1 << (bit & 7))) !== 0;
  }

  return {
    add(number: number): void {
      const index = Math.floor(number / numbersInPage);
      const page = pages.get(index) ?? new Uint8Array(numbersInPage / 8);
      pages.set(index, page);
      const bit = number % numbersInPage;
      page[bit >>> 3] = (page[bit >>> 3] ?? 0) | (1 << (bit & 7));
    },
    has,
    nextUnseen(from: number): number {
      let number = from;
      while (has(number)) number += 1;
      return number;
    },
  };
}
