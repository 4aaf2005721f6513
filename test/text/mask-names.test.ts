import { describe, expect, it } from 'vitest';
import { createNameMask } from '../../src/text/mask-names.js';

function mask(text: string, { names, kept }: { readonly names: readonly string[]; readonly kept?: string }) {
  const created = createNameMask([text], kept);
  for (const name of names) created.add(name);
  return created.apply(text);
}

describe('a mask for names', () => {
  it.each([
    ['as it is', 'guest Ana Gil is unknown', ['Ana Gil'], 'guest *** *** is unknown'],
    ['in other case and order', 'GIL/ANA, and ruiz, josé', ['Ana Gil', 'José Ruiz'], '***/***, and ***, ***'],
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
    ['as combining letters', 'ガガ様', ['ガガ'], '***様'],
  ])('hides a name %s', (_, text, names, expected) => {
    expect(mask(text, { names })).toBe(expected);
  });

  it('shows the name of the guest who was asked about, and hides what is not part of it', () => {
    const names = ['Ana Gil', 'Eva Gil', 'Guest 12'];
    expect(mask('Ana Gil, Eva Gil, ANA', { names, kept: 'Ana Gil' })).toBe('Ana Gil, *** Gil, ANA');
    expect(mask('Guest 1 or Guest 12', { names, kept: 'Guest 1' })).toBe('Guest 1 or Guest ***');
  });

  it('leaves the words of the text alone that only look like parts of names', () => {
    const text = 'the price for this guest is 12 EUR, batch 7, 100 % full';
    expect(mask(text, { names: ['Ana Price', 'Guest 99', 'J'] })).toBe(text);
    expect(mask('A room', { names: ['A. Ruiz'] })).toBe('A room');
  });

  it('masks all texts by what any of them says', () => {
    const created = createNameMask(['Ana?', 'gil'], undefined);
    created.add('Ana Gil');
    expect([created.apply('Ana?'), created.apply('gil')]).toEqual(['***?', '***']);
  });
});
