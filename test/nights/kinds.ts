import type { Event, ResultFile } from './history.js';

/** All that can come about: what went wrong on the way is a kind, too. */
export const allKinds: readonly string[] = [
  ...['run by body', 'run by file', 'replay by body', 'replay by file'],
  ...['schedule', 'hook', 'early', 'today', 'top-up', 'followed', 'look'],
  ...['none', 'whole', 'partial', 'growing', 'rewritten', 'split', 'set aside'].map(
    (form) => `result ${form}`,
  ),
  ...['export absent', 'export cut', 'export repeated'],
  ...['mail named', 'mail twice', 'accept', 'erase'],
  ...['dies-before', 'dies-after', 'answer lost', 'connection lost', 'disk full', 'ledger full'],
];

/** The kinds of things that an event is made of: two events that follow each other make pairs of them. */
export function kindsOf(event: Event): string[] {
  switch (event.kind) {
    case 'review': {
      const { how, by } = event;
      const isByFile = by === 'file' && how !== 'today';
      return [
        isOwnWay(how) ? `${how} by ${by}` : how,
        ...(isByFile ? [`result ${formOf(event.results)}`] : []),
        ...(event.isFollowed && isByFile ? ['followed'] : []),
      ];
    }
    case 'bad-export':
      return [`export ${event.form}`];
    case 'look':
      return event.results.length === 0 ? [] : ['look', `result ${formOf(event.results)}`];
    case 'mail':
      return [`mail ${event.form}`];
    case 'accept':
    case 'erase':
      return [event.kind];
  }
}

/** Whether it is asked by which way; others go the way that is configured, or that of the run before them. */
function isOwnWay(how: string): boolean {
  return how === 'run' || how === 'replay';
}

function formOf(files: readonly ResultFile[]): string {
  const [first, second] = files;
  if (!first) return 'none';
  if (first.isForeign) return 'set aside';
  if (second) return second.part === first.part ? formOfTwo(first, second) : 'split';
  return first.names ? 'partial' : 'whole';
}

function formOfTwo(first: ResultFile, second: ResultFile): string {
  return first.wrong.every((guest) => second.wrong.includes(guest)) ? 'growing' : 'rewritten';
}

/** Which kinds have come about, and which pairs of them one after the other. */
export function createSightings() {
  const kinds = new Map<string, number>();
  const pairs = new Map<string, number>();
  const add = (counts: Map<string, number>, key: string) => counts.set(key, 1 + (counts.get(key) ?? 0));
  const pairsOf = (before: readonly string[], after: readonly string[]) =>
    before.flatMap((one) => after.map((other) => `${one} → ${other}`));
  return {
    kinds,
    pairs,
    note(before: readonly string[], after: readonly string[]): void {
      for (const kind of after) add(kinds, kind);
      for (const pair of pairsOf(before, after)) add(pairs, pair);
    },
    /** How many pairs would come about for the first time. */
    countNew: (before: readonly string[], after: readonly string[]) =>
      pairsOf(before, after).filter((pair) => !pairs.has(pair)).length,
  };
}
