/** Masks names in other people's texts, however they are written. */
export interface NameMask {
  /** Names a person who may be mentioned. */
  add(name: string): void;
  apply(text: string): string;
}

const mask = '***';
const word = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;

/**
 * A mask for these texts. A word of a name is masked in any case, order, punctuation and with or without accents. One
 * that is written in lower case, or is a number, is masked only where the other words of that name occur as well:
 * otherwise a guest called Price would hide what the text says about prices.
 *
 * @param kept the name that may be shown
 */
export function createNameMask(texts: readonly string[], kept: string | undefined): NameMask {
  const keptWords = new Set(wordsOf(kept ?? '').map(fold));
  const occurring = new Set<string>();
  const standingOut = new Set<string>();
  const cutOff = new Set<string>();
  const decoded = texts.map(decode);
  // No word spans a line end.
  const together = decoded.join('\n');
  for (const text of decoded) {
    for (const found of wordsOf(text)) {
      const folded = fold(found);
      occurring.add(folded);
      if (standsOut(found)) standingOut.add(folded);
    }
    // Only the first bytes of a long response are kept.
    const last = wordsOf(text).at(-1) ?? '';
    if (last.length > 1 && text.endsWith(last) && standsOut(last)) cutOff.add(fold(last));
  }
  const masked = new Set<string>();
  const maskedParts = new Set<string>();
  const unmasked = createWordFilter();
  for (const one of occurring) if (!keptWords.has(one)) unmasked.countWord(one, 1);
  for (const last of cutOff) if (!keptWords.has(last)) unmasked.countStart(last, 1);

  function addWord(one: string): void {
    if (masked.has(one)) return;
    masked.add(one);
    if (occurring.has(one)) unmasked.countWord(one, -1);
    if (cutOff.has(one)) unmasked.countStart(one, -1);
  }

  function addPart(part: string): void {
    if (part.length > 1 && together.includes(part)) maskedParts.add(part);
  }

  return {
    add(name) {
      if (!unmasked.mayMatch(name)) return;
      const words = wordsOf(name.normalize('NFKC')).map(fold);
      const isWhole = words.every((one) => occurring.has(one));
      for (const one of words) {
        if (keptWords.has(one)) continue;
        if (isUncased(one)) addPart(one);
        else if (occurring.has(one) && (isWhole || (one.length > 1 && standingOut.has(one)))) addWord(one);
        for (const last of cutOff) if (one.startsWith(last) && !keptWords.has(last)) addWord(last);
      }
      if (words.some(isUncased)) addPart(words.join(''));
    },
    apply(text) {
      let result = decode(text).replace(word, (found) => (masked.has(fold(found)) ? mask : found));
      for (const part of longestFirst(maskedParts)) result = result.replaceAll(part, mask);
      return result;
    },
  };
}

/** What a name can add to what is masked: words, and starts of words. */
interface WordFilter {
  /** Adds a word this many times; a negative number removes it. */
  countWord(folded: string, times: number): void;
  countStart(folded: string, times: number): void;
  /** False if the name has none of these words, and no word with such a start. */
  mayMatch(name: string): boolean;
}

const slots = 0x1_00_00;
const emptyHash = 0x81_1c_9d_c5;

/**
 * Most names share no word with the texts. Hashes show this here: letter by letter in Latin scripts, in a fraction of
 * the time that splitting names takes. Names in other scripts, and those with equal hashes, always count as possible.
 */
function createWordFilter(): WordFilter {
  latin ??= foldLatin();
  const folded = latin;
  const words = new Uint16Array(slots);
  const starts = new Uint16Array(slots);
  return {
    countWord(one, times) {
      const slot = slotOf(hashWord(one));
      words[slot] = (words[slot] ?? 0) + times;
    },
    countStart(one, times) {
      const slot = slotOf(hashWord(one));
      starts[slot] = (starts[slot] ?? 0) + times;
    },
    mayMatch(name) {
      let hash = emptyHash;
      for (let at = 0; at < name.length; at += 1) {
        const unit = folded[name.charCodeAt(at)] ?? unfolded;
        if (unit === unfolded) return true;
        if (unit === noLetter) {
          if (words[slotOf(hash)] !== 0) return true;
          hash = emptyHash;
        } else {
          hash = hashNext(hash, unit);
          if (starts[slotOf(hash)] !== 0) return true;
        }
      }
      return words[slotOf(hash)] !== 0;
    },
  };
}

/** FNV-1a over UTF-16 units. */
function hashNext(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01_00_01_93);
}

function hashWord(folded: string): number {
  let hash = emptyHash;
  for (let at = 0; at < folded.length; at += 1) hash = hashNext(hash, folded.charCodeAt(at));
  return hash;
}

function slotOf(hash: number): number {
  return hash >>> 16;
}

const noLetter = 0;
const unfolded = 0xff_ff;
let latin: Uint16Array | undefined;

/** What each character of the Latin scripts is in a folded word, where that doesn't depend on the others. */
function foldLatin(): Uint16Array {
  return Uint16Array.from({ length: 0x2_50 }, (_, unit) => {
    const character = String.fromCharCode(unit);
    if (character.normalize('NFKC') !== character || isUncased(character)) return unfolded;
    if (wordsOf(character).length === 0) return noLetter;
    const folded = fold(character);
    return folded.length === 1 ? folded.charCodeAt(0) : unfolded;
  });
}

function wordsOf(text: string): readonly string[] {
  return text.match(word) ?? [];
}

function longestFirst(parts: ReadonlySet<string>): readonly string[] {
  return [...parts].sort((a, b) => b.length - a.length);
}

/** Without case and accents; in scripts without case, marks make other letters. */
function fold(text: string): string {
  return isUncased(text)
    ? text
    : text
        .normalize('NFKD')
        .replace(/\p{M}+/gu, '')
        .toLowerCase();
}

/** Whether it can be a name by itself: not a number, and not in lower case. */
function standsOut(found: string): boolean {
  return /^\p{L}/u.test(found) && !/^\p{Ll}/u.test(found);
}

/** Chinese, Japanese and other scripts have no lower case, and texts in them often no spaces. */
function isUncased(found: string): boolean {
  return /^\p{Lo}/u.test(found);
}

/** Escapes as in JSON, URLs and HTML would hide a name, or glue a letter to it. */
function decode(text: string): string {
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\[bfnrt]/g, ' ')
    .replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi, (all, hex?: string, decimal?: string) => {
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10_ff_ff ? String.fromCodePoint(code) : all;
    })
    .replace(/(?:%[0-9a-f]{2})+/gi, (escaped) => {
      try {
        return decodeURIComponent(escaped);
      } catch {
        return escaped;
      }
    })
    .normalize('NFKC');
}
