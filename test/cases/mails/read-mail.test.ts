import { describe, expect, it } from 'vitest';
import { createHeadings } from '../../../src/cases/mails/headings.js';
import { readHtml, readText, UnreadMailError } from '../../../src/cases/mails/records.js';
import { attachment, htmlTable, mailOf, multipart, multipartBody, readNames, words } from './mails.js';

const bookings = [
  { bookingReferenceId: 'BR-1042' },
  { bookingReferenceId: 'BR-1043', providerHotelId: '12' },
  { bookingReferenceId: 'AB 12/3', providerHotelId: 'Z9' },
  { bookingReferenceId: 'AB 12' },
  { bookingReferenceId: '2026' },
  { bookingReferenceId: '1' },
  { bookingReferenceId: 'NÚÑEZ-7' },
];
const columns = ['BookingReferenceId', 'ProviderName', 'ProviderHotelId', 'CheckInDate', 'IsCorrectMapping'];

const plain = (body: string, ...headers: string[]) => mailOf('text/plain', body, headers);
const html = (body: string) => mailOf('text/html; charset=utf-8', body);
const table = (...rows: (readonly string[])[]) => html(htmlTable(rows));
const base64 = 'Content-Transfer-Encoding: base64';

const aligned = 'Booking reference   Hotel      IsCorrectMapping\n----------------------\n';
const [first, second] = ['BR-1042', 'BR-1043'];
const listed = (reference: string) => htmlTable([['Reference'], [reference]]);

const inner = table(columns, [second, 'Alpha', '12', '', 'false']);
const forwarded = multipart('mixed', [
  { type: 'message/rfc822', body: inner, headers: attachment('Re.eml') },
]).replaceAll('=_b', '=_c');
const savedCsv =
  '\ufeffServicio;Referencia reserva;Entrada;IsCorrectMapping\n5;BR-1042;01/12/2026;FALSE\n5;BR-1043;2026-12-02;TRUE\n';

const tab = '<table><tr><td>';

it.each<[body: string, named: readonly string[], correct?: number]>([
  [
    'We found 2 incorrect mappings in 2026:\n\n- BR-1042\n * BR-1043, hotel 12 of Alpha.\n\nRegards\n',
    [first, second],
  ],
  [`${aligned}BR-1042    Sol     true\nBR-1043    Mar     false\n`, [second], 1],
  ['Booking\tIs correct\nBR-1042\tyes\nBR-1043\tno\n', [second], 1],
  ['> Booking reference   IsCorrectMapping\n> BR-1042   true\n', [], 1],
  // Sentences and titles clear no booking.
  ['Good news! All mappings are correct.\n\nBR-1042\nBR-1043\n', [first, second]],
  ['BR-1042 is correct.\nBR-1043 is incorrect.\n', [first, second]],
  ['BR-1042: correct\nBR-1043 (ok)\n', [first, second]],
  ['Correct mappings (1): BR-1042\n\nIncorrect mappings:\nBR-1043\nCorrect: yes\n', [first, second]],
  ['This is wrong: BR-1042\n\nOn Fri, Service wrote:\n> Incorrect mappings:\n> BR-1043\n', [first, second]],
  ['Incorrect: BR-1042, BR-\n1043', [first, second]],
  // What could stand there by accident needs a label, or an id of its hotels beside it.
  ['On 2026-11-20 we checked 1 booking; 2026 was a good year. Call 1 2026.', []],
  ['Booking references: 1, 2026', ['1', '2026']],
  ['Booking 2026 at H-77001', ['2026']],
  ['1 (500123)', ['1']],
  ['1 (500124)', []],
  ['Wrong: AB 12/3.', ['AB 12/3']],
  ['BR-10421 br-1042 BR-1042/7 XBR-1042', []],
])('Plain text names its bookings: %j', async (body, named, correct = 0) => {
  expect(await readNames(plain(body.replaceAll('\n', '\r\n')), bookings)).toMatchObject({ named, correct });
});

it.each<[body: string, named: readonly string[], correct?: number]>([
  [
    `<html><head><style>.x{color:red}</style></head><body><p>Dear customer,</p>${htmlTable([
      ['Booking reference', 'Provider', 'Hotel id', 'Check-in'],
      [first, 'Alpha', 'H-77001', '2026-12-01'],
      ['XX-9', 'Alpha', 'H-77001', '2026-12-01'],
    ])}<p>Page 1 of 1</p></body></html>`,
    [first],
  ],
  ...[
    ['IsCorrectMapping', 'true', 'false'],
    ['Mapping status', 'Mapping is correct', 'Incorrect mapping'],
    ['Affected', 'no', 'yes'],
    ['Wrong mapping', 'Correct', 'Incorrect'],
  ].map(([column = '', right = '', wrong = '']): [string, string[], number] => {
    const rows = [
      [first, 'Sol', right],
      [second, 'Mar', wrong],
    ];
    return [htmlTable([['Reference', 'Hotel', column], ...rows]), [second], 1];
  }),
  // A verdict that cannot be read clears nothing.
  [
    htmlTable([
      columns,
      [first, 'Alpha', 'H', '', 'kaputt'],
      [second, 'Alpha', '12', '', ''],
      ['NÚÑEZ-7', 'Alpha', '13', '', 'true'],
    ]),
    [first, second],
    1,
  ],
  // A booking that is fine may have any mapping.
  [
    htmlTable([
      ['Reference', 'Status'],
      [first, 'OK'],
      [second, 'yes'],
    ]),
    [first, second],
  ],
  [
    htmlTable([
      ['Reference', 'Is correct', 'Mapping status'],
      [first, 'yes', 'incorrect'],
    ]),
    [first],
  ],
  [
    htmlTable([
      ['Reference', 'IsCorrectMapping'],
      [first, 'true'],
      [first, 'false'],
    ]),
    [first],
  ],
  [
    '<table><tr><th>Booking reference<th colspan="2">Hotel<th>IsCorrectMapping<tr><td>BR-1042<td>Sol<td>Mar<td>true</table>',
    [],
    1,
  ],
  ['<pre>Booking reference   IsCorrectMapping\nBR-1042   true\n</pre>', [], 1],
  [`<h2>Correct</h2>${listed(first)}<h2>Not correct</h2>${listed(second)}`, [first, second]],
  [htmlTable([['Correct mappings'], [first], [second]]), [first, second]],
  ...['BR-<br>1042', 'BR-<wbr>1042', '&#8203;BR-&shy;1042', 'BR&#8209;1042', '<b>BR-1042</b><br>'].map(
    (cell): [string, string[]] => [listed(cell), [first]],
  ),
  [listed('AB&nbsp;12/3'), ['AB 12/3']],
  ['<table><tr><th>Rooms<th>Year<tr><td>1<td>2026</table>', []],
  ['<table><tr><th>Nr<th>Booking reference<tr><td>1<td>2026</table>', ['2026']],
  [
    '<table><tr><th>Provider<th>Booking reference<tr><td rowspan="2">Alpha<td>1<tr><td>2026</table>',
    ['1', '2026'],
  ],
  [
    `${tab}Booking reference<td>1<tr><td>IsCorrectMapping<td>false<tr><td>Booking reference<td>2026<tr><td>IsCorrectMapping<td>true</table>`,
    ['1'],
    1,
  ],
  [`${tab}${tab}logo</table>${htmlTable([['Booking ref.'], ['2026']])}</table>`, ['2026']],
])('HTML names its bookings: %j', async (body, named, correct = 0) => {
  expect(await readNames(html(body), bookings)).toMatchObject({ named, correct });
});

const broken = '<p>BR-<wbr>1042</p>';

it.each<[what: string, mail: string | Buffer, named: readonly string[], correct?: number]>([
  ['an e-mail with odd headers', `Received: x\n y\nWrong\nContent-Type: text/html\n\n${broken}`, [first]],
  ['no labelled values', `Booking: x\nDate: 2026-11-20\n\n${broken}`, []],
  ['no cells', `a,b\n1,2\n\n${broken}`, []],
  ['UTF-8', Buffer.from('NÚÑEZ-7'), ['NÚÑEZ-7']],
  ['UTF-16 with its mark', Buffer.from('\ufeffNÚÑEZ-7', 'utf16le'), ['NÚÑEZ-7']],
  ['UTF-16 with the other mark', Buffer.from('\ufeffNÚÑEZ-7', 'utf16le').swap16(), ['NÚÑEZ-7']],
  ['windows-1252', Buffer.from('NÚÑEZ-7', 'latin1'), ['NÚÑEZ-7']],
  [
    'an attached CSV file',
    multipart('mixed', [
      { type: 'text/plain', body: 'See the attached list of 1 booking.' },
      {
        ...{ type: 'text/csv', headers: attachment('incorrect.csv') },
        body: 'ServiceId,BookingReferenceId,Comment\r\n500123,BR-1043,"wrong, see\r\nbelow"\r\n1,QQ-1,x\r\n',
      },
    ]),
    [second],
  ],
  [
    'quoted-printable in windows-1252',
    mailOf('text/plain; charset=windows-1252', 'Booking N=DA=D1EZ-7 and BR-=\r\n1042 are wrong', [
      'Content-Transfer-Encoding: quoted-printable',
    ]),
    [first, 'NÚÑEZ-7'],
  ],
  [
    'base64 in UTF-8',
    mailOf('text/plain; charset=utf-8', Buffer.from('NÚÑEZ-7').toString('base64'), [base64]),
    ['NÚÑEZ-7'],
  ],
  [
    'an attached file of unknown type and encoding',
    multipart('mixed', [
      {
        type: 'application/octet-stream',
        body: Buffer.from('Localizador;Hotel\r\nNÚÑEZ-7;Sol\r\n', 'latin1').toString('base64'),
        headers: [...attachment('lista.csv'), base64],
      },
    ]),
    ['NÚÑEZ-7'],
  ],
  [
    'an e-mail within one within it',
    multipart('mixed', [{ type: 'message/rfc822', body: forwarded }]),
    [second],
  ],
  [
    'a list and, without its verdicts, the same as plain text',
    multipart('alternative', [
      { type: 'text/plain', body: 'BR-1042\r\nBR-1043\r\n' },
      {
        type: 'text/html',
        body: htmlTable([
          ['Reference', 'IsCorrectMapping'],
          [first, 'true'],
          [second, 'false'],
        ]),
      },
    ]),
    [second],
    1,
  ],
  ['a saved CSV file with semicolons', savedCsv, [first], 1],
  ['a saved list', 'BR-1042\nBR-1043\n', [first, second]],
  ['a saved page', `<html>${listed(first)}`, [first]],
])('A verdict e-mail names its bookings in %s', async (_, mail, named, correct = 0) => {
  expect(await readNames(mail, bookings)).toMatchObject({ named, correct });
});

it.each([
  ['its Date', [], Date.UTC(2026, 10, 21, 5, 10)],
  ['its Date, where Received has no time,', ['Received: from a by b'], Date.UTC(2026, 10, 21, 5, 10)],
  [
    'its newest Received',
    ['Received: from a by b; Sat, 21 Nov 2026 06:11:00 +0100'],
    Date.UTC(2026, 10, 21, 5, 11),
  ],
])('An e-mail was received when %s says so', async (_, headers, receivedAt) => {
  const { mail } = await readNames(plain('x', ...headers), bookings);
  expect(mail).toMatchObject({ messageId: '<m1@service.example>', receivedAt });
});

it('Columns and words of the settings are read as those of the result file', () => {
  const { read, judge } = createHeadings({
    ...{ resultColumn: 'Urteil', masterIdColumn: 'Haus' },
    resultValues: { correct: ['passt'], incorrect: ['passt nicht', 7] },
  });
  expect([read('URTEIL'), read('Haus:')]).toEqual(['correct', 'service']);
  const said = ['Passt.', 'passt nicht', '7'].map((text) => judge('correct', text));
  expect(said).toEqual(['correct', 'incorrect', 'incorrect']);
});

it('References of a booking with several versions mean the version whose hotel is beside them, or all', async () => {
  const versions = [
    { bookingReferenceId: first, serviceId: 104_492, providerHotelId: 'H-1' },
    { bookingReferenceId: first, serviceId: 104_493, providerHotelId: 'H-2' },
  ];
  const booked = async (mail: string) => (await readNames(mail, versions)).serviceIds;
  const row = [first, 'Alpha, hotel H-2', '104493, Casa Sol (ES)'];
  const rows = htmlTable([['Booking', 'Provider', 'Booked'], row]);
  expect(await booked(html(rows))).toEqual([104_493]);
  expect(await booked(plain('Incorrect: BR-1042'))).toEqual([104_492, 104_493]);
  const both = multipart('alternative', [
    { type: 'text/plain', body: row.join('\r\n') },
    { type: 'text/html', body: rows },
  ]);
  expect(await booked(both)).toEqual([104_493]);
});

const pair = { providerName: 'Alpha', providerHotelId: 'H-77001' };
const mappings =
  'ServiceId,ProviderHotelId,ProviderFamily,ModifiedOn,ChannelIds,ProviderLocationId\r\n500123,H-77001,Alpha,2026-01-01T00:00:00Z,1,X\r\n';
const transformed = 'ServiceId,Alpha,Beta Beds\r\n500123,H-77001,\r\n';

it.each<[what: string, mail: string, pairs: readonly object[]]>([
  [
    'a row without a known reference',
    table(['Provider', 'Hotel code', 'ServiceId'], ['alpha', 'H-77001', '500123'], ['Other', 'H-1', '2']),
    expect.arrayContaining([{ ...pair, serviceId: 500_123 }]),
  ],
  ['a list', plain('These are wrong:\r\nProvider; Hotel code\r\nAlpha; H-77001\r\n'), [pair]],
  [
    'neither a row with a known reference nor one that is called correct',
    table(columns, [first, 'Alpha', 'H-77001', '', 'false'], ['', 'Alpha', 'H-9', '', 'true']),
    [],
  ],
  ['no sentence', plain('Alpha reported 1 problem at H-77001'), []],
  ['no labels', plain('Provider: Alpha\r\nHotel code: H-77001'), []],
  [
    'no export of all mappings, which the service sends as well',
    multipart(
      'mixed',
      [mappings, transformed].map((body, index) => ({
        ...{ type: 'text/csv', body, headers: attachment(`acme_${index}.csv`) },
      })),
    ),
    [],
  ],
])('A pair of provider and hotel id is named by %s', async (_, mail, pairs) => {
  expect((await readNames(mail, bookings)).pairs).toEqual(pairs);
});

describe('A hostile e-mail', () => {
  const reasonOf = (bytes: string | Buffer) =>
    readNames(bytes, bookings).then(
      () => 'read',
      (error: unknown) => (error instanceof UnreadMailError ? error.reason : error),
    );

  it('is refused when it is too large, too deep, or has too many parts, rows or words', async () => {
    const large = 25 * 1024 * 1024 + 1;
    expect(await reasonOf(Buffer.alloc(large, 'x'))).toBe('too-large');
    const parts = Array.from({ length: 2_000 }, () => ({ type: 'text/plain', body: 'x' }));
    expect(await reasonOf(multipart('mixed', parts))).toBe('too-many-parts');
    let nested = 'x';
    for (let depth = 0; depth < 40; depth += 1)
      nested = `Content-Type: multipart/mixed; boundary="b${depth}"\r\n\r\n--b${depth}\r\n${nested}\r\n--b${depth}--\r\n`;
    expect(await reasonOf(`From: a@b.example\r\n${nested}`)).toBe('too-deep');
    let forwarded = mailOf('text/plain', 'x');
    for (let depth = 0; depth < 12; depth += 1)
      forwarded = mailOf(
        `multipart/mixed; boundary="f${depth}"`,
        multipartBody(`f${depth}`, [
          { type: 'message/rfc822', body: forwarded, headers: attachment('a.eml') },
        ]),
      );
    expect(await reasonOf(forwarded)).toBe('too-deep');
    expect(await reasonOf(`Reference;Hotel\n${'x;y\n'.repeat(500_001)}`)).toBe('too-many-rows');
    expect(await reasonOf('a b c d '.repeat(250_000))).toBe('too-many-words');
  });

  it('is read in linear time, whatever it repeats', async () => {
    for (const piece of ['<table>', '<td rowspan=9999 colspan=9999>', '= ', '"', ' ', '<b', '&lt', 'a:'])
      for (const type of ['text/html', 'text/plain'])
        expect(await reasonOf(mailOf(type, piece.repeat(20_000)))).toMatch(/^(read|too-(many-|deep))/);
  }, 60_000);

  it('of many short lines or rows is read', async () => {
    const headings = createHeadings(words);
    const many = 40_000;
    expect(readText('x\n'.repeat(many), headings)).toHaveLength(many);
    expect(readText(`Reference;Hotel\n${'x;y\n'.repeat(many)}`, headings).length).toBeGreaterThanOrEqual(
      many,
    );
    expect(readHtml('x<br>'.repeat(many), headings)).toHaveLength(many);
    const rows = htmlTable([['Reference'], ...Array.from({ length: many }, () => ['x'])]);
    expect(readHtml(rows, headings)).toHaveLength(many);
  }, 60_000);

  it('of elements within elements, or of cells that reach into a thousand rows, is refused', async () => {
    expect(await reasonOf(mailOf('text/html', '<div>'.repeat(100_000)))).toBe('too-deep');
    expect(await reasonOf(mailOf('text/html', '<table><tr><td>'.repeat(200_000)))).toBe('too-deep');
    const reaching = `<tr>${'<td rowspan=1000>x'.repeat(200)}${'<tr>'.repeat(1_000)}`;
    expect(await reasonOf(mailOf('text/html', `<table>${reaching.repeat(20)}`))).toBe('too-many-rows');
  }, 60_000);
});

describe('What is not known to be read', () => {
  const part = (type: string, ...headers: string[]) => ({
    type,
    body: 'eA==',
    headers: [...headers, 'Content-Transfer-Encoding: base64'],
  });
  const zip = Buffer.from('PK\u0003\u0004\u0000').toString('base64');
  const countUnread = async (mail: string) => (await readNames(mail, bookings)).mail.unreadAttachments;
  const besideText = (kind: string, ...parts: ReturnType<typeof part>[]) =>
    multipart(kind, [{ type: 'text/html', body: '<p>BR-1042' }, ...parts]);

  it.each([
    [
      'S/MIME',
      mailOf('application/pkcs7-mime; name=smime.p7m', 'eA==', ['Content-Transfer-Encoding: base64']),
    ],
    ['an encrypted part', besideText('mixed', part('application/pkcs7-mime'))],
    [
      'inline PGP',
      mailOf(
        'text/plain',
        'BR-1042\r\n-----BEGIN PGP MESSAGE-----\r\n\r\nabc\r\n-----END PGP MESSAGE-----\r\n',
      ),
    ],
    ['uuencode', mailOf('text/plain', 'BR-1042\r\nbegin 644 list.xls\r\n#0V%T\r\n`\r\nend\r\n')],
    ['BinHex', mailOf('text/plain', '(This file must be converted with BinHex 4.0)\r\n:$f*TEQKPH')],
    [
      'a large picture in HTML itself',
      mailOf('text/html', `BR-1042 <img src="data:image/png;base64,${'A'.repeat(140_000)}">`),
    ],
    ['an external body', besideText('mixed', part('message/external-body; access-type=URL'))],
    [
      'what a forwarded e-mail has attached',
      besideText('mixed', {
        ...{ type: 'message/rfc822', body: mailOf('application/pdf', 'eA==', attachment('list.pdf')) },
        headers: [],
      }),
    ],
    [
      'a workbook called a picture',
      besideText('related', { ...part('image/png', 'Content-ID: <a>'), body: zip }),
    ],
    ['winmail.dat', besideText('mixed', part('application/ms-tnef', ...attachment('winmail.dat')))],
    [
      'RTF',
      besideText('mixed', {
        ...part('text/rtf'),
        body: Buffer.from('{\\rtf1 BR-1042}').toString('base64'),
      }),
    ],
    [
      'a picture that is attached',
      besideText('mixed', part('image/png', 'Content-ID: <b>', ...attachment('list.png'))),
    ],
    [
      'a picture that is all there is',
      multipart('related', [
        { type: 'text/html', body: '<html><body><img src="cid:a"></body></html>' },
        part('image/png', 'Content-ID: <a>'),
      ]),
    ],
  ])('counts: %s', async (_, mail) => {
    expect(await countUnread(mail)).toBeGreaterThan(0);
  });

  it('is neither a detached signature nor a small picture in the text', async () => {
    expect(
      await countUnread(
        besideText('signed', part('application/pkcs7-signature', ...attachment('smime.p7s'))),
      ),
    ).toBe(0);
    expect(await countUnread(besideText('related', part('image/png', 'Content-ID: <a>')))).toBe(0);
    const inHtml = '<img src="data:image/png;base64,eA=="> <img src="cid:a"> BR-1042';
    expect(await countUnread(mailOf('text/html', inHtml))).toBe(0);
    const large = { type: 'image/png', body: 'x'.repeat(100_000), headers: ['Content-ID: <a>'] };
    expect(await countUnread(multipart('related', [{ type: 'text/html', body: 'BR-1042' }, large]))).toBe(1);
  });
});
