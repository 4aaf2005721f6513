/** Says in one line what happened. It names no guest, no key and no address of a person. */
export type Tell = (line: string) => void;

export function countOf(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}
