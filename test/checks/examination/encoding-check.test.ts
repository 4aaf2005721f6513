import { expect, it } from 'vitest';
import { checkEncoding, findGuess } from '../../../src/checks/examination/encoding-check.js';
import type { Sample } from '../../../src/sources/common/sample.js';

const place = 'bookings.csv';
const sampleOf = (names: readonly string[], found: Partial<Sample>): Sample => ({
  columns: ['BookingClientName'],
  records: names.map((name) => new Map([['BookingClientName', name]])),
  ...found,
});
const turkish = sampleOf(['Ana Gil', 'Yýlmaz Þahin', 'Çelik', 'Yýlmaz', 'Jörg'], {
  encoding: 'windows-1252',
  otherEncodings: ['iso-8859-15', 'windows-1250', 'windows-1254'],
});

it('a guess has three names in each encoding that fits, of which only accented letters are shown', () => {
  expect(findGuess(turkish)).toEqual({
    encoding: 'windows-1252',
    others: ['iso-8859-15', 'windows-1250', 'windows-1254'],
    readings: [
      { encodings: ['windows-1252', 'iso-8859-15'], words: ['Þ****', '*ý****', 'Ç****'] },
      { encodings: ['windows-1250'], words: ['Ţ****', '*ý****', 'Ç****'] },
      { encodings: ['windows-1254'], words: ['Ş****', '*ı****', 'Ç****'] },
    ],
  });
});

it('no name is shown that is mostly accents, or in letters of its own', () => {
  const utf16 = sampleOf(['山田'], { encoding: 'utf-16le', otherEncodings: [] });
  expect(findGuess(utf16)).toEqual({ encoding: 'utf-16le', others: [], readings: [] });
  const accented = sampleOf(['Öğü'], { encoding: 'windows-1254', otherEncodings: [] });
  expect(findGuess(accented)?.readings).toEqual([{ encodings: ['windows-1254'], words: [] }]);
});

it('one that the file states is no guess', () => {
  expect(findGuess(sampleOf(['Jörg'], { encoding: 'utf-16le', isMarked: true }))).toBeUndefined();
  expect(findGuess(sampleOf(['Jörg'], {}))).toBeUndefined();
});

it.each<[string, Sample, string, string[]]>([
  [
    'UTF-8 as Windows-1252',
    sampleOf(['Jörg'], { encoding: 'utf-8' }),
    'windows-1252',
    ['the beginning of bookings.csv is UTF-8 text'],
  ],
  [
    'Windows-1252 as UTF-8',
    turkish,
    'utf-8',
    ['bookings.csv is not UTF-8 text. It looks like windows-1252.'],
  ],
  ['ASCII as Windows-1252', sampleOf(['Jorg'], { encoding: 'utf-8' }), 'windows-1252', []],
  ['UTF-8 with a mark', sampleOf(['Jörg'], { encoding: 'utf-8', isMarked: true }), 'windows-1252', []],
  ['another one than is guessed', turkish, 'windows-1254', []],
  ['as it is', sampleOf(['Jörg'], { encoding: 'utf-8' }), 'utf-8', []],
])('doctor says that the setting does not fit the file: %s', (_, sample, configured, messages) => {
  const found = checkEncoding(sample, configured, place);
  expect(found.map(({ verdict }) => verdict)).toEqual(messages.map(() => 'wrong'));
  messages.forEach((message, at) => void expect(found[at]?.message).toContain(message));
});
