import type { Choices } from './choices.js';
import { allGuests, type Guest } from './guests.js';

/** What the service writes as a result, so long after its call. */
export interface ResultFile {
  readonly afterMs: number;
  /** Between the day and `_Result.csv`. */
  readonly part?: string;
  /** Those whose rows it has; all that are in the file if absent. */
  readonly names?: readonly Guest[];
  readonly wrong: readonly Guest[];
  /** It is about another file. */
  readonly isForeign?: boolean;
  readonly oddity?: Oddity;
}

/**
 * What is wrong with the form of a result: besides its rows, others that are about nothing of ours; verdicts of some in words that
 * nobody knows; two columns of verdicts.
 */
export interface Oddity {
  readonly kind: 'rows' | 'words' | 'column twice';
  /** Those whose verdict is in such a word. */
  readonly unclear: readonly Guest[];
}

const [atOnce, later] = [1_000, 3 * 3_600_000];

/** The forms of a result. Those that come in parts leave time for a look between two of them. */
export const results = {
  none: [],
  whole: (...wrong: Guest[]): ResultFile[] => [{ afterMs: atOnce, wrong }],
  partial: (names: readonly Guest[], wrong: readonly Guest[] = []): ResultFile[] => [
    { afterMs: atOnce, names, wrong },
  ],
  growing: (names: readonly Guest[], wrong: readonly Guest[]): ResultFile[] => [
    { afterMs: atOnce, names, wrong },
    { afterMs: later, wrong },
  ],
  /** What was said first about a part is withdrawn. */
  rewritten: (names: readonly Guest[], first: readonly Guest[], wrong: readonly Guest[]): ResultFile[] => [
    { afterMs: atOnce, names, wrong: first },
    { afterMs: later, wrong },
  ],
  split: (names: readonly Guest[], wrong: readonly Guest[]): ResultFile[] => [
    { afterMs: atOnce, part: '_1', names, wrong },
    { afterMs: atOnce, part: '_2', names: allGuests.filter((guest) => !names.includes(guest)), wrong },
  ],
  /** Two files of the same second that do not agree. */
  contradicting: (
    names: readonly Guest[],
    first: readonly Guest[],
    wrong: readonly Guest[],
  ): ResultFile[] => [
    { afterMs: atOnce, part: '_1', names, wrong: first },
    { afterMs: atOnce, part: '_2', wrong },
  ],
  setAside: (...wrong: Guest[]): ResultFile[] => [
    { afterMs: atOnce, part: '_1', wrong: [], isForeign: true },
    { afterMs: later, part: '_2', wrong },
  ],
  odd: (kind: Oddity['kind'], unclear: readonly Guest[], wrong: readonly Guest[]): ResultFile[] => [
    { afterMs: atOnce, wrong, oddity: { kind, unclear } },
  ],
} as const;

const oddities = ['rows', 'words', 'column twice'] as const;

/** As `formOf` names them. */
export const resultKinds: readonly string[] = [
  ...['none', 'whole', 'partial', 'growing', 'rewritten', 'contradicting', 'split', 'set aside'],
  ...oddities.map((kind) => `odd ${kind}`),
].map((form) => `result ${form}`);

const forms = [
  'none',
  'whole',
  'set-aside',
  'partial',
  'growing',
  'split',
  'rewritten',
  'contradicting',
  'odd',
] as const;

export function someResults({ pick, guests }: Choices): readonly ResultFile[] {
  switch (pick(forms)) {
    case 'none':
      return results.none;
    case 'whole':
      return results.whole(...guests());
    case 'set-aside':
      return results.setAside(...guests());
    case 'partial':
      return results.partial(guests(), guests());
    case 'growing':
      return results.growing(guests(), guests());
    case 'split':
      return results.split(guests(), guests());
    case 'rewritten':
      return results.rewritten(guests(), guests(), guests());
    case 'contradicting':
      return results.contradicting(guests(), guests(), guests());
    case 'odd':
      return results.odd(pick(oddities), guests(), guests());
  }
}

export function kindOfResults(files: readonly ResultFile[]): string {
  return `result ${formOf(files)}`;
}

function formOf(files: readonly ResultFile[]): string {
  const [first, second] = files;
  if (!first) return 'none';
  if (first.isForeign) return 'set aside';
  if (first.oddity) return `odd ${first.oddity.kind}`;
  if (second) return formOfTwo(first, second);
  return first.names ? 'partial' : 'whole';
}

function formOfTwo(first: ResultFile, second: ResultFile): string {
  if (second.part !== first.part) return second.names ? 'split' : 'contradicting';
  return first.wrong.every((guest) => second.wrong.includes(guest)) ? 'growing' : 'rewritten';
}

export function tellResult({ afterMs, part = '', names, wrong, isForeign, oddity }: ResultFile): string {
  const about = isForeign ? "somebody else's bookings" : names ? listNames(names) : 'all';
  const odd = oddity ? `, odd ${oddity.kind}, unclear: ${listNames(oddity.unclear)}` : '';
  return `after ${afterMs / 1000} s a result${part} about ${about}, incorrect: ${listNames(wrong)}${odd}`;
}

export function listNames(some: readonly string[]): string {
  return some.length === 0 ? 'nobody' : some.join(', ');
}

/** The same with one less. */
export function* withoutOne<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let index = 0; index < items.length; index += 1) yield items.toSpliced(index, 1);
}
