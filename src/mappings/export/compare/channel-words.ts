const word = /[\p{L}\p{M}\p{N}_-]+/gu;
/** The same few channels stand on most rows. */
const rememberedAtMost = 1_000;

/**
 * Reads the words of channels as one text, each word once and in order: how channels are separated in a cell is not
 * specified, so whatever is no letter, digit, hyphen or underscore may stand between them.
 */
export function createWordReader(): (channels: string) => string {
  const remembered = new Map<string, string>();
  return (channels) => {
    const known = remembered.get(channels);
    if (known !== undefined) return known;
    const words = [...new Set(channels.match(word))].sort().join(' ');
    if (remembered.size >= rememberedAtMost) remembered.clear();
    // A copy: a piece cut out of a large text keeps all of it in memory.
    remembered.set(Buffer.from(channels).toString(), words);
    return words;
  };
}
