import { isAscii } from 'node:buffer';
import { isByteEncoding, readAs } from '../../base/encoding.js';
import type { Sample } from '../../sources/common/sample.js';
import { describeGuess } from '../../sources/files/text-file.js';
import { type Finding, findingsOf } from '../check.js';

/** The encoding of a file where only its bytes suggest it. */
export interface EncodingGuess {
  readonly encoding: string;
  /** What else fits. */
  readonly others: readonly string[];
  /** The same words as these encodings read them, masked. */
  readonly readings: readonly { readonly encodings: readonly string[]; readonly words: readonly string[] }[];
}

const { wrong } = findingsOf('source');

/** Undefined if the file says its encoding, and for anything but a file. */
export function findGuess({ encoding, otherEncodings, records }: Sample): EncodingGuess | undefined {
  if (encoding === undefined || otherEncodings === undefined) return undefined;
  const all = [encoding, ...otherEncodings].filter(isByteEncoding);
  const telling = [...new Set(records.flatMap(listAccented))]
    .map((word) => all.map((one) => readAs(word, all[0] ?? one, one)))
    .map((words) => ({ words, different: new Set(words).size }))
    .toSorted((one, other) => other.different - one.different)
    .slice(0, wordsShown);
  const byWords = new Map<string, { encodings: string[]; words: string[] }>();
  for (const [at, one] of all.entries()) {
    const words = telling.map((each) => each.words[at] ?? '');
    const known = byWords.get(words.join(' '));
    if (known) known.encodings.push(one);
    else byWords.set(words.join(' '), { encodings: [one], words });
  }
  return { encoding, others: otherEncodings, readings: [...byWords.values()] };
}

const wordsShown = 3;

/** The words with accents. No other letter of them is shown: a guest's name may be in any column. */
function listAccented(record: ReadonlyMap<string, string>): string[] {
  return [...record.values()]
    .flatMap((value) => value.match(/[\p{L}\p{M}]+/gu) ?? [])
    .filter((word) => !isAscii(Buffer.from(word)))
    .map((word) => word.replace(/[\0-\x7f]/g, '*'))
    .filter((word) => word.replaceAll('*', '').length * 2 <= word.length);
}

const adviceOnGuess = 'Set source.encoding to the one that reads the names right.';

function describe({ encoding, others, readings }: EncodingGuess): string {
  const shown = readings.filter(({ words }) => words.length > 0);
  return [
    `${encoding}. ${describeGuess(others)}.`,
    ...(shown.length === 0
      ? []
      : ['Some names in it, without the letters that are the same in all encodings:']),
    ...shown.map(({ encodings, words }) => `${encodings.join(', ')}: ${words.join(', ')}`),
  ].join('\n');
}

/** Says that the setting does not fit the beginning of a file. */
export function checkEncoding(sample: Sample, configured: string, location: string): readonly Finding[] {
  const { encoding = configured, isMarked = false, records, columns } = sample;
  if (isMarked || encoding === configured) return [];
  if (configured === 'utf-8') {
    const guess = findGuess(sample);
    if (guess === undefined) return [];
    return [wrong(`${location} is not UTF-8 text. It looks like ${describe(guess)}`, adviceOnGuess)];
  }
  const texts = [...columns, ...records.flatMap((record) => [...record.values()])];
  const isBeyondAscii = texts.some((text) => !isAscii(Buffer.from(text)));
  if (encoding !== 'utf-8' || !isByteEncoding(configured) || !isBeyondAscii) return [];
  return [
    wrong(
      `the beginning of ${location} is UTF-8 text, but source.encoding is ${configured}, which would garble the names in it`,
      'Set source.encoding: utf-8',
    ),
  ];
}
