import { describe, expect, it } from 'vitest';
import { createNameTest } from '../../../src/review/guests/name-test.js';

const name = 'Cañária Quetzal-Núñez';
const holdsName = createNameTest([name]);
const escaped = (text: string) =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

describe('a text holds a name', () => {
  it.each([
    ['as given', name],
    ['in upper case', name.toUpperCase()],
    ['reversed', 'Quetzal-Núñez, Cañária'],
    ['decomposed', name.normalize('NFD')],
    ['without accents', 'Canaria Quetzal Nunez'],
    ['by one word only', 'Mr. quetzal'],
    ['apart', 'q u e t z a l'],
    ['with invisible characters', 'Quet\u00adz\u200bal'],
    ['in full width', 'Ｑｕｅｔｚａｌ'],
    ['cut off', 'the guest is Quetz'],
    ['in JSON', JSON.stringify({ name }).replace(/[^ -~]/g, escaped)],
    ['in HTML', 'Ca&ntilde;&aacute;ria'],
    ['in HTML, by numbers', [...name].map((one) => `&#${one.charCodeAt(0)};`).join('')],
    ['in HTML, twice', 'Ca&amp;ntilde;&amp;aacute;ria'],
    ['in a URL', encodeURIComponent(name)],
    ['in a form', encodeURIComponent(name).replaceAll('%20', '+')],
    ['in a URL, twice', encodeURIComponent(encodeURIComponent('Cañária'))],
    ['in a URL, in Latin-1', 'Ca%F1%E1ria'],
    ['in an e-mail', 'Ca=C3=B1=C3=A1ria Quet=\r\nzal'],
    ['in octal bytes', 'Ca\\303\\261\\303\\241ria'],
    ['in the wrong encoding', Buffer.from('Cañária').toString('latin1')],
  ])('%s', (_, written) => {
    expect(holdsName(`{"Message":"no room for ${written}"}`) || holdsName(`no room for ${written}`)).toBe(
      true,
    );
  });

  it.each([
    ['Straße Müller', 'STRASSE'],
    ['Li Wu', 'wu li'],
    ['王小明', '客人王小明先生'],
    ['Ana Gil', 'gil, ana'],
  ])('%s: %s', (given, written) => {
    expect(createNameTest([given])(written)).toBe(true);
  });
});

it('a text holds all words of a name, or only one', () => {
  const holdsAll = createNameTest(['Ana Gil', 'Eva Roth'], 'all words');
  expect(['gil, ANA', 'Ana Roth', 'Gil', 'ev%61 Roth'].map(holdsAll)).toEqual([true, false, false, true]);
});

it.each(['Success', 'no availability for BR-2', 'fragile', '{"StatusCode":2009}', ''])(
  'a text without the name does not hold it: %s',
  (text) => {
    expect(createNameTest(['Ana Gil', name])(text)).toBe(false);
    expect(createNameTest([])(text)).toBe(false);
  },
);
