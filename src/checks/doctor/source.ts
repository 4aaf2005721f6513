import type { Check } from '../check.js';
import { checkEncoding } from '../examination/encoding-check.js';
import { checkSource } from '../examination/source-check.js';
import { lookForUnconfirmed, takeSample, warnOfUnconfirmed } from '../examination/unconfirmed.js';

/** Since the check began, which must not fail because a second reading is slow. */
const secondReadingMs = 7_000;

/** Reads the day's first bookings as a run would, and then once more for what a run would not notice. */
export const source: Check = {
  part: 'source',
  async look({ config, day, openSource, sourceParts: parts }, signal) {
    const { source: settings, maxRejectedShare, emptyDay } = config;
    const enough = AbortSignal.timeout(secondReadingMs);
    const reading = await openSource();
    const found = await checkSource({ ...reading, day, maxRejectedShare, emptyDay }, signal);
    const isRead = found.every(({ verdict }) => verdict !== 'wrong');
    // What fails to be UTF-8 is shown in other encodings.
    const encoding = 'encoding' in settings ? settings.encoding : undefined;
    const mayBeGarbled = encoding !== undefined && (isRead || encoding === 'utf-8');
    if (!isRead && !mayBeGarbled) return found;
    const sample = await takeSample(settings, parts, day, { signal, enough });
    return [
      ...found,
      ...(isRead ? warnOfUnconfirmed(lookForUnconfirmed(sample, settings)) : []),
      ...(sample && mayBeGarbled ? checkEncoding(sample, encoding, reading.source.locate(day)) : []),
    ];
  },
};
