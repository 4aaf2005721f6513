const mask = '***';
/** A run's names have about so many different words. */
const mostRemembered = 100_000;
const word = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;

export type NameMask = ReturnType<typeof createNameMask>;

/**
 * A mask of names for these texts of others, however the names are written: a word of a name is masked in any case, order and
 * punctuation, with or without accents. One that is written in lower case, or is a number, is masked only where the other words of
 * that name occur as well: otherwise a guest called Price would hide what the text says about prices.
 *
 * @param kept the name that may be shown
 */
export function createNameMask(texts: readonly string[], kept: string | undefined) {
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

  function addPart(part: string): void {
    if (part.length > 1 && together.includes(part)) maskedParts.add(part);
  }

  /** Of parts of names, which repeat: whether they may be in the texts. */
  const remembered = new Map<string, boolean>();
  const mayMatch = (one: string) =>
    isUncased(one) || occurring.has(one) || [...cutOff].some((last) => one.startsWith(last));

  function mayOccur(part: string): boolean {
    const known = remembered.get(part);
    if (known !== undefined) return known;
    const isFound = wordsOf(part.normalize('NFKC')).map(fold).some(mayMatch);
    if (remembered.size < mostRemembered) remembered.set(part, isFound);
    return isFound;
  }

  return {
    /** Names a person who may be mentioned. */
    add(name: string): void {
      // Most names have no part in common with the texts.
      if (!name.split(' ').some(mayOccur)) return;
      const words = wordsOf(name.normalize('NFKC')).map(fold);
      const isWhole = words.every((one) => occurring.has(one));
      for (const one of words) {
        if (keptWords.has(one)) continue;
        if (isUncased(one)) addPart(one);
        else if (occurring.has(one) && (isWhole || (one.length > 1 && standingOut.has(one)))) masked.add(one);
        for (const last of cutOff) if (one.startsWith(last) && !keptWords.has(last)) masked.add(last);
      }
      if (words.some(isUncased)) addPart(words.join(''));
    },
    apply(text: string): string {
      let result = decode(text).replace(word, (found) => (masked.has(fold(found)) ? mask : found));
      for (const part of longestFirst(maskedParts)) result = result.replaceAll(part, mask);
      return result;
    },
  };
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
