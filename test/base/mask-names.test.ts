import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNameMask } from '../../src/review/stored/mask-names.js';

/** Words and pieces of words in several scripts, many of which fold to the same. */
const anyWord = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ...'Ana ana ANA A Gil GIL Gi price Price 12 Núñez Nunez Nun\u0303ez NÚÑ'.split(' '),
      ...'Straße STRASSE Ørsted ørs İpek ipek ırmak ŉ ǆ ſt ﬁn fin ª a ǃx x²'.split(' '),
      ...'Σας ΣΑΣ Яна яна 王小明 王 小明 김 민수 ガガ ｶﾞｶﾞ Ａｎａ أنا 😀'.split(' '),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.string({
      maxLength: 5,
      unit: fc.integer({ min: 0, max: 0x2_ff }).map((unit) => String.fromCharCode(unit)),
    }),
  },
);
const anySign = fc.constantFrom(
  ...[' ', '  ', '-', "'", '’', '.', ', ', '_', '/', '\u00a0', '\u00ad', '\u0301', ''],
);
const anyName = fc
  .array(fc.tuple(anyWord, anySign), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.flat().join(''));

/** As it is, or escaped in some way. */
const anyPiece = fc
  .tuple(fc.oneof(anyName, fc.constantFrom('guest ', 'the price of ', '{"n":"')), fc.nat({ max: 5 }))
  .map(([text, way]) => {
    const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
    if (way === 0) return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
    if (way === 1) return encodeURIComponent(text.toWellFormed());
    if (way === 2) return [...text].map((character) => `&#${character.codePointAt(0)};`).join('');
    return text;
  });
/** Some are cut off. */
const anyAnswer = fc
  .tuple(fc.array(anyPiece, { maxLength: 5 }), fc.nat({ max: 3 }))
  .map(([pieces, cut]) => pieces.join(' ').slice(0, cut === 0 ? undefined : -cut));

function mask(text: string, { names, kept }: { readonly names: readonly string[]; readonly kept?: string }) {
  const created = createNameMask([text], kept);
  for (const name of names) created.add(name);
  return created.apply(text);
}

describe('a mask for names', () => {
  it.each([
    ['as it is', 'guest Ana Gil is unknown', ['Ana Gil'], 'guest *** *** is unknown'],
    ['without accents, or with others', 'Jose Nunez, Münch', ['José Núñez', 'Munch'], '*** ***, ***'],
    ['in part', 'Mrs Gil has no room', ['Ana Gil'], 'Mrs *** has no room'],
    ['escaped as in JSON', String.raw`{"n":"Jos\u00e9\nGil"}`, ['José Gil'], '{"n":"*** ***"}'],
    ['escaped as in URLs and HTML', '?n=Ana%20Jos%C3%A9 &#71;il', ['Ana José', 'Gil'], '?n=*** *** ***'],
    ['cut off at the end', 'unknown guest Gonzá', ['Eva González'], 'unknown guest ***'],
    ['between other signs', 'x_Gil_O’Brien-Ruiz!', ['Gil', "O'Brien Ruiz"], 'x_***_***’***-***!'],
    ['with a number', 'Guest 12 and guest 13', ['Guest 12', 'Guest 13'], '*** *** and *** ***'],
    [
      'in scripts without small letters',
      '客人王小明不存在, 김민수',
      ['王小明', '김 민수'],
      '客人***不存在, ***',
    ],
  ])('hides a name %s', (_, text, names, expected) => {
    expect(mask(text, { names })).toBe(expected);
  });

  it('shows the name of the guest who was asked about, and hides what is not part of it', () => {
    const names = ['Ana Gil', 'Eva Gil', 'Guest 12'];
    expect(mask('Ana Gil, Eva Gil, ANA', { names, kept: 'Ana Gil' })).toBe('Ana Gil, *** Gil, ANA');
    expect(mask('Guest 1 or Guest 12', { names, kept: 'Guest 1' })).toBe('Guest 1 or Guest ***');
  });

  it('leaves alone words of the text that only look like parts of names', () => {
    const text = 'the price for this guest is 12 EUR, batch 7, 100 % full';
    expect(mask(text, { names: ['Ana Price', 'Guest 99', 'J'] })).toBe(text);
    expect(mask('A room', { names: ['A. Ruiz'] })).toBe('A room');
  });

  it('hides the same parts of a name, whether it is looked at part by part or as a whole', () => {
    // Other blanks change no word, and keep its parts together.
    const closely = (name: string) => name.replaceAll(' ', '\u00a0');
    fc.assert(
      fc.property(
        fc.array(anyAnswer, { minLength: 1, maxLength: 3 }),
        fc.array(anyName, { maxLength: 8 }),
        fc.option(anyName, { nil: undefined }),
        (texts, names, kept) => {
          const [inParts, whole] = [createNameMask(texts, kept), createNameMask(texts, kept)];
          for (const name of names) inParts.add(name);
          for (const name of names) whole.add(closely(name));
          expect(texts.map(inParts.apply)).toEqual(texts.map(whole.apply));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('masks all texts by what any of them says', () => {
    const created = createNameMask(['Ana?', 'gil'], undefined);
    created.add('Ana Gil');
    expect([created.apply('Ana?'), created.apply('gil')]).toEqual(['***?', '***']);
  });
});
