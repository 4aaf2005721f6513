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

describe('The three forms of a verdict e-mail name their bookings', () => {
  it('as an HTML table', async () => {
    const html = `<html><head><style>.x{color:red}</style></head><body><p>Dear customer,</p>${htmlTable([
      ['Booking reference', 'Provider', 'Hotel id', 'Check-in'],
      ['BR-1042', 'Alpha', 'H-77001', '2026-12-01'],
      ['XX-9', 'Alpha', 'H-77001', '2026-12-01'],
    ])}<p>Page 1 of 1</p></body></html>`;
    const { named } = await readNames(mailOf('text/html; charset=utf-8', html), bookings);
    expect(named).toEqual(['BR-1042']);
  });

  it('as an attached CSV file', async () => {
    const csv =
      'ServiceId,BookingReferenceId,Comment\r\n500123,BR-1043,"wrong, see\r\nbelow"\r\n1,QQ-1,x\r\n';
    const { named } = await readNames(
      multipart('mixed', [
        { type: 'text/plain', body: 'See the attached list of 1 booking.' },
        { type: 'text/csv', body: csv, headers: attachment('incorrect.csv') },
      ]),
      bookings,
    );
    expect(named).toEqual(['BR-1043']);
  });

  it('as a plain list', async () => {
    const text =
      'We found 2 incorrect mappings in 2026:\r\n\r\n- BR-1042\r\n * BR-1043, hotel 12 of Alpha.\r\n\r\nRegards\r\n';
    expect((await readNames(mailOf('text/plain', text), bookings)).named).toEqual(['BR-1042', 'BR-1043']);
  });
});

describe('An e-mail is read whatever its encoding and structure', () => {
  it('in quoted-printable and base64, in UTF-8 and windows-1252', async () => {
    const quoted = mailOf(
      'text/plain; charset=windows-1252',
      'Booking N=DA=D1EZ-7 and BR-=\r\n1042 are wrong',
      ['Content-Transfer-Encoding: quoted-printable'],
    );
    expect((await readNames(quoted, bookings)).named).toEqual(['BR-1042', 'NÚÑEZ-7']);
    const encoded = mailOf('text/plain; charset=utf-8', Buffer.from('NÚÑEZ-7').toString('base64'), [
      'Content-Transfer-Encoding: base64',
    ]);
    expect((await readNames(encoded, bookings)).named).toEqual(['NÚÑEZ-7']);
    const latin = multipart('mixed', [
      {
        type: 'application/octet-stream',
        body: Buffer.from('Localizador;Hotel\r\nNÚÑEZ-7;Sol\r\n', 'latin1').toString('base64'),
        headers: [...attachment('lista.csv'), 'Content-Transfer-Encoding: base64'],
      },
    ]);
    expect((await readNames(latin, bookings)).named).toEqual(['NÚÑEZ-7']);
  });

  it('forwarded as an attachment of an attachment', async () => {
    const inner = mailOf('text/html', htmlTable([columns, ['BR-1043', 'Alpha', '12', '', 'false']]));
    const deep = multipart('mixed', [{ type: 'message/rfc822', body: inner, headers: attachment('Re.eml') }]);
    const part = { type: 'message/rfc822', body: deep.replaceAll('=_b', '=_c') };
    expect((await readNames(multipart('mixed', [part]), bookings)).named).toEqual(['BR-1043']);
  });

  it('as a file that was saved from one: CSV with semicolons, a list, or HTML', async () => {
    const csv =
      '\ufeffServicio;Referencia reserva;Entrada;IsCorrectMapping\n5;BR-1042;01/12/2026;FALSE\n5;BR-1043;2026-12-02;TRUE\n';
    expect((await readNames(csv, bookings)).named).toEqual(['BR-1042']);
    expect((await readNames('BR-1042\nBR-1043\n', bookings)).named).toEqual(['BR-1042', 'BR-1043']);
    expect((await readNames(`<html>${htmlTable([['Ref'], ['BR-1042']])}`, bookings)).named).toEqual([
      'BR-1042',
    ]);
  });

  it('knows when it was received: by its newest Received, or else its Date', async () => {
    const dated = await readNames(mailOf('text/plain', 'x'), bookings);
    expect(dated.mail).toMatchObject({
      messageId: '<m1@service.example>',
      receivedAt: Date.UTC(2026, 10, 21, 5, 10),
    });
    const received = mailOf('text/plain', 'x', ['Received: from a by b; Sat, 21 Nov 2026 06:11:00 +0100']);
    expect((await readNames(received, bookings)).mail.receivedAt).toBe(Date.UTC(2026, 10, 21, 5, 11));
  });
});

describe('Columns of verdicts decide', () => {
  it('an e-mail that lists all bookings names only those that it calls incorrect', async () => {
    for (const [column, right, wrong] of [
      ['IsCorrectMapping', 'true', 'false'],
      ['Mapping status', 'Mapping is correct', 'Incorrect mapping'],
      ['Affected', 'no', 'yes'],
    ] as const) {
      const html = htmlTable([
        ['Reference', 'Hotel', column],
        ['BR-1042', 'Sol', right],
        ['BR-1043', 'Mar', wrong],
      ]);
      const { named, correct } = await readNames(mailOf('text/html', html), bookings);
      expect({ column, named, correct }).toEqual({ column, named: ['BR-1043'], correct: 1 });
    }
  });

  it('in tables of plain text as well, and where a reply quotes one', async () => {
    const table =
      'Booking reference   Hotel      IsCorrectMapping\r\n----------------------\r\nBR-1042    Sol     true\r\nBR-1043    Mar     false\r\n';
    expect((await readNames(mailOf('text/plain', table), bookings)).named).toEqual(['BR-1043']);
    const tabs = 'Booking\tIs correct\r\nBR-1042\tyes\r\nBR-1043\tno\r\n';
    expect((await readNames(mailOf('text/plain', tabs), bookings)).named).toEqual(['BR-1043']);
    const quoted = '> Booking reference   IsCorrectMapping\r\n> BR-1042   true\r\n';
    expect(await readNames(mailOf('text/plain', quoted), bookings)).toMatchObject({ named: [], correct: 1 });
  });

  it('but a verdict that cannot be read clears nothing: its row names its booking', async () => {
    const html = htmlTable([
      columns,
      ['BR-1042', 'Alpha', 'H', '', 'kaputt'],
      ['BR-1043', 'Alpha', '12', '', ''],
      ['NÚÑEZ-7', 'Alpha', '13', '', 'true'],
    ]);
    const { named, correct } = await readNames(mailOf('text/html; charset=utf-8', html), bookings);
    expect({ named, correct }).toEqual({ named: ['BR-1042', 'BR-1043'], correct: 1 });
  });
});

describe('Sentences and titles', () => {
  const [first = '', second = ''] = ['BR-1042', 'BR-1043'];
  const namedIn = async (mail: string) => (await readNames(mail, bookings)).named;
  const text = (body: string) => namedIn(mailOf('text/plain', body.replaceAll('\n', '\r\n')));
  const html = (body: string) => namedIn(mailOf('text/html', body));

  it('clear no booking, even if they call everything correct', async () => {
    const titles = `Correct mappings (1): ${first}\n\nIncorrect mappings:\n${second}\nCorrect: yes\n`;
    for (const body of [
      `Good news! All mappings are correct.\n\n${first}\n${second}\n`,
      `${first} is correct.\n${second} is incorrect.\n`,
      `${first}: correct\n${second} (ok)\n`,
      titles,
    ])
      expect(await text(body)).toEqual([first, second]);
    const listed = (reference: string) => htmlTable([['Reference'], [reference]]);
    const headings = `<h2>Correct</h2>${listed(first)}<h2>Not correct</h2>${listed(second)}`;
    expect(await html(headings)).toEqual([first, second]);
    expect(await html(htmlTable([['Correct mappings'], [first], [second]]))).toEqual([first, second]);
  });

  it('have a reference that a line, a cell, an encoding or invisible characters break', async () => {
    expect(await text(`Incorrect: ${first}, BR-\n1043`)).toEqual([first, second]);
    const cells = ['BR-<br>1042', 'BR-<wbr>1043', '&#8203;BR-&shy;1043', 'BR&#8209;1042'];
    for (const cell of cells) expect(await html(htmlTable([['Reference'], [cell]]))).toHaveLength(1);
    const reply = `This one is wrong too: ${first}\n\nOn Fri, Service wrote:\n> Incorrect mappings:\n> ${second}\n`;
    expect(await text(reply)).toEqual([first, second]);
  });
});

it('An export of all mappings, which the service sends as well, names no pair', async () => {
  const mappings =
    'ServiceId,ProviderHotelId,ProviderFamily,ModifiedOn,ChannelIds,ProviderLocationId\r\n500123,H-77001,Alpha,2026-01-01T00:00:00Z,1,X\r\n';
  const transformed = 'ServiceId,Alpha,Beta Beds\r\n500123,H-77001,\r\n';
  const parts = [mappings, transformed].map((body, index) => ({
    ...{ type: 'text/csv', body, headers: attachment(`acme_${index}.csv`) },
  }));
  const { named, pairs } = await readNames(multipart('mixed', parts), bookings);
  expect({ named, pairs }).toEqual({ named: [], pairs: [] });
});

describe('A reference that could be there by accident', () => {
  it('counts for nothing in sentences, dates and numbers of other columns', async () => {
    const text = 'On 2026-11-20 we checked 1 booking; 2026 was a good year. Call 1 2026.';
    expect((await readNames(mailOf('text/plain', text), bookings)).named).toEqual([]);
    const html = htmlTable([
      ['Rooms', 'Year'],
      ['1', '2026'],
    ]);
    expect((await readNames(mailOf('text/html', html), bookings)).named).toEqual([]);
  });

  it('counts under the heading of a reference, or after its label in the same line', async () => {
    const html = htmlTable([
      ['Nr', 'Booking reference'],
      ['1', '2026'],
    ]);
    expect((await readNames(mailOf('text/html', html), bookings)).named).toEqual(['2026']);
    const labelled = 'Booking references: 1, 2026';
    expect((await readNames(mailOf('text/plain', labelled), bookings)).named).toEqual(['1', '2026']);
  });

  it('counts beside its hotel id of the provider or the master', async () => {
    expect((await readNames(mailOf('text/plain', 'Booking 2026 at H-77001'), bookings)).named).toEqual([
      '2026',
    ]);
    expect((await readNames(mailOf('text/plain', '1 (500123)'), bookings)).named).toEqual(['1']);
    expect((await readNames(mailOf('text/plain', '1 (500124)'), bookings)).named).toEqual([]);
  });
});

describe('References', () => {
  it('may contain spaces and slashes: the longest one is meant', async () => {
    expect((await readNames(mailOf('text/plain', 'Wrong: AB 12/3.'), bookings)).named).toEqual(['AB 12/3']);
    const html = htmlTable([['Reference'], ['AB&nbsp;12/3'], ['<b>BR-1042</b><br>']]);
    expect((await readNames(mailOf('text/html', html), bookings)).named).toEqual(['AB 12/3', 'BR-1042']);
  });

  it('of a booking with several versions mean the version whose hotel is beside them, or all', async () => {
    const versions = [
      { bookingReferenceId: 'BR-1042', serviceId: 104_492, providerHotelId: 'H-1' },
      { bookingReferenceId: 'BR-1042', serviceId: 104_493, providerHotelId: 'H-2' },
    ];
    const booked = async (mail: string) => (await readNames(mail, versions)).serviceIds;
    const row = ['BR-1042', 'Alpha, hotel H-2', '104493, Casa Sol (ES)'];
    const html = htmlTable([['Booking', 'Provider', 'Booked'], row]);
    expect(await booked(mailOf('text/html', html))).toEqual([104_493]);
    expect(await booked(mailOf('text/plain', 'Incorrect: BR-1042'))).toEqual([104_492, 104_493]);
    const both = multipart('alternative', [
      { type: 'text/plain', body: row.join('\r\n') },
      { type: 'text/html', body: html },
    ]);
    expect(await booked(both)).toEqual([104_493]);
  });

  it('are exact: neither a longer word nor a different letter case matches', async () => {
    expect(
      (await readNames(mailOf('text/plain', 'BR-10421 br-1042 BR-1042/7 XBR-1042'), bookings)).named,
    ).toEqual([]);
  });

  it('in rows that a cell spans, in vertical tables, and in tables within tables', async () => {
    const spanned =
      '<table><tr><th>Provider</th><th>Booking reference</th></tr><tr><td rowspan="2">Alpha</td><td>1</td></tr><tr><td>2026</td></tr></table>';
    expect((await readNames(mailOf('text/html', spanned), bookings)).named).toEqual(['1', '2026']);
    const vertical =
      '<table><tr><td>Booking reference</td><td>1</td></tr><tr><td>IsCorrectMapping</td><td>false</td></tr><tr><td>Booking reference</td><td>2026</td></tr><tr><td>IsCorrectMapping</td><td>true</td></tr></table>';
    expect((await readNames(mailOf('text/html', vertical), bookings)).named).toEqual(['1']);
    const nested = `<table><tr><td><table><tr><td>logo</td></tr></table>${htmlTable([['Booking ref.'], ['2026']])}</td></tr></table>`;
    expect((await readNames(mailOf('text/html', nested), bookings)).named).toEqual(['2026']);
  });
});

describe('A pair of provider and hotel id', () => {
  it('is named by a row without a known reference', async () => {
    const html = htmlTable([
      ['Provider', 'Hotel code', 'ServiceId'],
      ['alpha', 'H-77001', '500123'],
      ['Other', 'H-1', '2'],
    ]);
    const { pairs } = await readNames(mailOf('text/html', html), bookings);
    expect(pairs).toContainEqual({ providerName: 'Alpha', providerHotelId: 'H-77001', serviceId: 500_123 });
    const text = 'These are wrong:\r\nProvider; Hotel code\r\nAlpha; H-77001\r\n';
    expect((await readNames(mailOf('text/plain', text), bookings)).pairs).toEqual([
      { providerName: 'Alpha', providerHotelId: 'H-77001' },
    ]);
  });

  it('is not named by a row with a known reference, by one that is called correct, or by text', async () => {
    const html = htmlTable([
      columns,
      ['BR-1042', 'Alpha', 'H-77001', '', 'false'],
      ['', 'Alpha', 'H-9', '', 'true'],
    ]);
    expect((await readNames(mailOf('text/html', html), bookings)).pairs).toEqual([]);
    for (const text of ['Alpha reported 1 problem at H-77001', 'Provider: Alpha\r\nHotel code: H-77001'])
      expect((await readNames(mailOf('text/plain', text), bookings)).pairs).toEqual([]);
  });
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
