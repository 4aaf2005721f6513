/**
 * Decides whether texts hold a person's name, however it is written: in any case and order, with or without accents, composed or not,
 * glued together or apart, in the escapes of JSON, HTML, URLs, e-mails and shells. It is for texts that are dropped then, so in doubt they
 * do: a guest called Price is found in what is said about prices.
 *
 * @param needed one word of a name, or all of them, because each may be in the name of another person
 */
export function createNameTest(
  names: Iterable<string>,
  needed: 'one word' | 'all words' = 'one word',
): (text: string) => boolean {
  const sought = [...names]
    .flatMap((name) => [listParts(fold(name)), listParts(fold(transcribe(name)))])
    .filter((parts) => parts.length > 0);
  return (text) =>
    listReadings(text).some((reading) => {
      const words = wordsOf(fold(reading));
      const whole = { words: new Set(words), together: words.join(''), last: words.at(-1) ?? '' };
      const holds = (part: string) => holdsPart(part, whole);
      return sought.some((parts) => (needed === 'one word' ? parts.some(holds) : parts.every(holds)));
    });
}

/** The words of a name by which it is found; of a name of very short ones, all of it. */
function listParts(folded: string): readonly string[] {
  const words = wordsOf(folded);
  const long = words.filter((one) => one.length >= (isUncased(one) ? 2 : 3));
  if (long.length > 0 || words.length === 0) return long;
  return [`${words.join('')} ${words.toReversed().join('')}`];
}

interface FoldedText {
  readonly words: ReadonlySet<string>;
  readonly together: string;
  readonly last: string;
}

/** A word of three letters is in many others. Only the first bytes of a long response are kept, so the last word may be cut off. */
function holdsPart(part: string, { words, together, last }: FoldedText): boolean {
  const isCutOff = last.length > 1 && part.startsWith(last);
  const isShort = part.length === 3 && !isUncased(part);
  const isThere = isShort ? words.has(part) : part.split(' ').some((one) => together.includes(one));
  return isThere || isCutOff;
}

function wordsOf(folded: string): readonly string[] {
  return folded.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Chinese, Japanese and other scripts have no lower case, and short words. */
function isUncased(text: string): boolean {
  return /^\p{Lo}/u.test(text);
}

const plainLetters: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i', ħ: 'h', ŋ: 'n' },
};

/** Without case, accents and invisible characters. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]+/gu, '')
    .toLowerCase()
    .replace(/[^\0-\x7f]/g, (letter) => plainLetters[letter] ?? letter);
}

const transcriptions: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  å: 'aa',
  ø: 'oe',
  ñ: 'nn',
};

/** As people write them who have no such letters. */
function transcribe(name: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\0-\x7f]/g, (letter) => transcriptions[letter] ?? letter);
}

/** The text as written and decoded, and both as they are if their bytes were read in the wrong encoding. */
function listReadings(text: string): readonly string[] {
  const readings = [text, decode(text)];
  return [...new Set([...readings, ...readings.map((one) => Buffer.from(one, 'latin1').toString())])];
}

/** What was escaped may have been escaped again on its way. */
const timesEscaped = 3;

function decode(text: string): string {
  let decoded = text;
  for (let time = 0; time < timesEscaped; time += 1) {
    const further = decodeOnce(decoded);
    if (further === decoded) break;
    decoded = further;
  }
  return decoded;
}

function decodeOnce(text: string): string {
  return text
    .replace(/\\u\{?([0-9a-f]{4,6})\}?/gi, (all, code: string) => toCharacter(Number.parseInt(code, 16), all))
    .replace(/&#x([0-9a-f]{1,6});?/gi, (all, code: string) => toCharacter(Number.parseInt(code, 16), all))
    .replace(/&#(\d{1,7});?/g, (all, code: string) => toCharacter(Number(code), all))
    .replace(
      /&([a-z])(?:acute|grave|circ|tilde|uml|cedil|ring|caron|slash|breve|ogon|strok|macr|dblac);/gi,
      '$1',
    )
    .replace(/&(sz|ae|oe)lig;/gi, (_, letters: string) => (letters.toLowerCase() === 'sz' ? 'ss' : letters))
    .replace(/&(?:shy|zwn?j);/gi, '')
    .replace(/&(?!amp;)[a-z]{2,8};/gi, ' ')
    .replace(/&amp;/gi, '&')
    .replace(/=\r?\n/g, '')
    .replace(/(?:(?:%|=|\\x)[0-9a-f]{2})+/gi, (run) => toText(run.split(/%|=|\\x/i).slice(1), 16))
    .replace(/(?:\\[0-3][0-7]{2})+/g, (run) => toText(run.split('\\').slice(1), 8))
    .replace(/\\[bfnrtv0]/g, ' ');
}

function toCharacter(code: number, all: string): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : all;
}

/** Bytes of UTF-8, or of an encoding with one byte for each character. */
function toText(numbers: readonly string[], base: number): string {
  const bytes = Buffer.from(numbers.map((one) => Number.parseInt(one, base)));
  const text = bytes.toString();
  return text.includes('\ufffd') ? bytes.toString('latin1') : text;
}
