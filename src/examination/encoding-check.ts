import { isAscii } from 'node:buffer';
import type { Sample } from '../sources/common/setup.js';
import { describeGuess } from '../sources/files/text-file.js';
import { isByteEncoding, readAs } from '../text/encoding.js';
import { type Finding, findingsOf } from './finding.js';

/** The encoding of a file where only its bytes suggest it. */
export interface EncodingGuess {
  readonly encoding: string;
  /** What else fits and would read other characters. */
  readonly others: readonly string[];
  /** The same words in each of these encodings, masked. */
  readonly words: readonly { readonly encoding: string; readonly words: readonly string[] }[];
}

const { ok, warning, wrong } = findingsOf('source');

/** Undefined if the file says its encoding, and for anything but a file. */
export function findGuess({ encoding, otherEncodings, records }: Sample): EncodingGuess | undefined {
  if (encoding === undefined || otherEncodings === undefined) return undefined;
  const all = [encoding, ...otherEncodings].filter(isByteEncoding);
  const readings = [...new Set(records.flatMap(listAccented))].map((word) =>
    all.map((one) => (one === encoding ? word : readAs(word, all[0] ?? one, one))),
  );
  const telling = readings
    .map((words) => ({ words, different: new Set(words).size }))
    .toSorted((one, other) => other.different - one.different)
    .slice(0, wordsShown);
  return {
    encoding,
    others: otherEncodings,
    words: all.map((one, at) => ({ encoding: one, words: telling.map(({ words }) => words[at] ?? '') })),
  };
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

/** What `init` says about an encoding that it guessed. */
export function reportGuess(guess: EncodingGuess | undefined, place: string): readonly Finding[] {
  if (guess === undefined) return [];
  const message = `${place} looks like ${describe(guess)}`;
  return guess.others.length === 0 ? [ok(message)] : [warning(message, adviceOnGuess)];
}

const adviceOnGuess = 'Set source.encoding to the one that reads the names right.';

function describe({ encoding, others, words }: EncodingGuess): string {
  const shown = words.filter((each) => each.words.length > 0);
  return [
    `${encoding}. ${describeGuess(others)}.`,
    ...(shown.length === 0
      ? []
      : ['Some names in it, without the letters that are the same in all encodings:']),
    ...shown.map((each) => `${each.encoding}: ${each.words.join(', ')}`),
  ].join('\n');
}

/** Says that the setting does not fit the beginning of a file. */
export function checkEncoding(sample: Sample, configured: string, place: string): readonly Finding[] {
  const { encoding = configured, isMarked = false, records, columns } = sample;
  if (isMarked || encoding === configured) return [];
  if (configured === 'utf-8') {
    const guess = findGuess(sample);
    if (guess === undefined) return [];
    return [wrong(`${place} is not UTF-8 text. It looks like ${describe(guess)}`, adviceOnGuess)];
  }
  const texts = [...columns, ...records.flatMap((record) => [...record.values()])];
  const isBeyondAscii = texts.some((text) => !isAscii(Buffer.from(text)));
  if (encoding !== 'utf-8' || !isByteEncoding(configured) || !isBeyondAscii) return [];
  return [
    wrong(
      `the beginning of ${place} is UTF-8 text, but source.encoding is ${configured}, which would garble the names in it`,
      'Set source.encoding: utf-8',
    ),
  ];
}
