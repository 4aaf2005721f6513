import { describe, expect, it } from 'vitest';
import { attachment, htmlTable, mailOf, multipart, multipartBody, readNames } from './mails.js';

const bookings = ['BR-1042', 'BR-1043', 'BR-1044', '26112042'].map((bookingReferenceId) => ({
  bookingReferenceId,
}));
const [first, second, third] = ['BR-1042', 'BR-1043', 'BR-1044'];
const text = (body: string) => mailOf('text/plain; charset=utf-8', body.replaceAll('\n', '\r\n'));
const html = (body: string) => mailOf('text/html; charset=utf-8', body);
const listed = (...references: (string | undefined)[]) =>
  htmlTable([['Reference', 'Hotel'], ...references.map((reference = '') => [reference, 'Sol'])]);
const base64 = (content: Buffer) => content.toString('base64');

async function count(mail: string | Buffer) {
  const { named, correct } = await readNames(mail, bookings);
  return { named, correct };
}

describe('An e-mail names the known references in it, even if it calls everything correct', () => {
  it.each([
    ['above a list', text(`Good news! All mappings are correct.\n\n${first}\n${second}\n`)],
    ['below a list', text(`${first}\n${second}\n\nAll of these bookings are correct.\n`)],
    ['by a denial', text(`No incorrect mappings were found.\n\nReviewed:\n${first}\n${second}\n`)],
    ['above a table', html(`<p>All bookings below are correctly mapped.</p>${listed(first, second)}`)],
    [
      'in a sentence over two lines',
      text(
        `We have reviewed all of the bookings that you sent to us yesterday evening, and all\nof them are correct.\n\n${first}\n${second}\n`,
      ),
    ],
    [
      'in its subject',
      text(`${first}\n${second}\n`).replace('Incorrect mappings found', 'All mappings are correct'),
    ],
    [
      'above an attached list',
      multipart('mixed', [
        { type: 'text/plain', body: 'All mappings are correct, see the attached list.' },
        {
          type: 'text/csv',
          body: `Ref,Hotel\r\n${first},x\r\n${second},y\r\n`,
          headers: attachment('a.csv'),
        },
      ]),
    ],
  ])('%s', async (_where, mail) => {
    expect(await count(mail)).toEqual({ named: [first, second], correct: 0 });
  });

  it('in each sentence and below each title, whatever these say', async () => {
    const lines = `${first} is correct.\n${second} is incorrect.\nPlease check ${third}\n`;
    expect((await count(text(lines))).named).toEqual([first, second, third]);
    const ends = `${first}: correct\n${second} (ok)\n`;
    expect((await count(text(ends))).named).toEqual([first, second]);
    const titles = `Correct mappings (1): ${first}\n\nIncorrect mappings:\n${second}\nCorrect: yes\n`;
    expect((await count(text(titles))).named).toEqual([first, second]);
    const headings = `<h2>Correct</h2>${listed(first)}<h2>Not correct</h2>${listed(second)}`;
    expect((await count(html(headings))).named).toEqual([first, second]);
    const list = htmlTable([['Correct mappings'], [first ?? ''], [second ?? '']]);
    expect((await count(html(list))).named).toEqual([first, second]);
  });

  it('in its subject', async () => {
    const mail = text('Please look at it.').replace('Incorrect mappings found', `About ${first}`);
    expect((await count(mail)).named).toEqual([first]);
  });

  it('but not where a column of a table calls them correct', async () => {
    const table = htmlTable([
      ['Reference', 'IsCorrectMapping'],
      [first ?? '', 'false'],
      [second ?? '', 'true'],
    ]);
    expect(await count(html(`<p>2 incorrect mappings</p>${table}`))).toEqual({ named: [first], correct: 1 });
  });
});

describe('A reference', () => {
  it('is found where a line, a cell or an encoding breaks it', async () => {
    expect((await count(text(`Incorrect: ${first}, BR-\n1043 and ${third}`))).named).toEqual([
      first,
      second,
      third,
    ]);
    const cells =
      '<table><tr><th>Reference</th></tr><tr><td>BR-<br>1042</td></tr><tr><td>BR-<wbr>1043</td></tr></table>';
    expect((await count(html(cells))).named).toEqual([first, second]);
    const quoted = mailOf(
      'text/html; charset=utf-8',
      '<table><tr><th>Reference</th><th>Provider</th></tr><tr><td>BR-=\r\n1042</td><t=\r\nd>Al=\r\npha</td></tr></table>',
      ['Content-Transfer-Encoding: quoted-printable'],
    );
    expect((await count(quoted)).named).toEqual([first]);
  });

  it('is found with invisible characters in it', async () => {
    const cells = ['BR-&shy;1042', '&#8203;BR-1043', 'BR&#8209;1044'];
    expect((await count(html(listed(...cells)))).named).toEqual([first, second, third]);
  });

  it('is found in an e-mail that is quoted in a reply', async () => {
    const reply = `This one is wrong too: ${first}\n\nOn Fri, 20 Nov 2026, Service wrote:\n> Incorrect mappings:\n> ${second}\n`;
    expect((await count(text(reply))).named).toEqual([first, second]);
  });

  it('is found among a thousand, in a list, in a line and in a table', async () => {
    const many = Array.from({ length: 1_000 }, (_, number) => `BR-2611-${number}`);
    const known = many.map((bookingReferenceId) => ({ bookingReferenceId }));
    for (const mail of [text(many.join('\n')), text(many.join(', ')), html(listed(...many))])
      expect((await readNames(mail, known)).named).toHaveLength(1_000);
  });

  it('is found in windows-1252, declared or not, below a heading that is not ASCII', async () => {
    const body = `<p>Reservas err\u00f3neas</p>${htmlTable([['N\u00ba reserva'], ['26112042']])}`;
    const declared = Buffer.from(mailOf('text/html; charset=windows-1252', body), 'latin1');
    expect((await count(declared)).named).toEqual(['26112042']);
    const csv = Buffer.from('N\u00ba de reserva;Nombre\r\n26112042;Nu\u00f1ez\r\n', 'latin1');
    const headers = [...attachment('x.csv'), 'Content-Transfer-Encoding: base64'];
    const silent = multipart('mixed', [{ type: 'text/csv', body: base64(csv), headers }]);
    expect((await count(silent)).named).toEqual(['26112042']);
  });

  it('is found in nested parts of a forwarded e-mail, even if that is encoded', async () => {
    const related = multipartBody('rel', [
      { type: 'text/html', body: listed(first) },
      { type: 'image/png', body: 'x', headers: ['Content-ID: <a>'] },
    ]);
    const inner = mailOf(
      'multipart/alternative; boundary=in',
      multipartBody('in', [
        { type: 'text/plain', body: 'see html' },
        { type: 'multipart/related; boundary=rel', body: related },
      ]),
    );
    const encoded = ['Content-Transfer-Encoding: base64', ...attachment('fwd.eml')];
    for (const part of [
      { type: 'message/rfc822', body: inner },
      { type: 'message/rfc822', body: base64(Buffer.from(inner)), headers: encoded },
    ])
      expect((await count(multipart('mixed', [{ type: 'text/plain', body: 'FYI' }, part]))).named).toEqual([
        first,
      ]);
  });
});

describe('A text that is not a list of verdicts', () => {
  it('such as an export of all mappings, which the service sends as well, names no pair', async () => {
    const mappings =
      'ServiceId,ProviderHotelId,ProviderFamily,ModifiedOn,ChannelIds,ProviderLocationId\r\n500123,H-77001,Alpha,2026-01-01T00:00:00Z,1,X\r\n';
    const content =
      'ServiceId,HotelName,Lat,Long,AddressLine1,City,CityLocationId,ProviderHotelId,ProviderFamily\r\n500123,Sol,1,2,x,Madrid,7,H-77001,Alpha\r\n';
    const transformed = 'ServiceId,Alpha,Beta Beds\r\n500123,H-77001,\r\n';
    const { named, pairs } = await readNames(
      multipart('mixed', [
        { type: 'text/plain', body: 'Your mappings have been exported' },
        ...[mappings, content, transformed].map((body, index) => ({
          ...{ type: 'text/csv', body, headers: attachment(`acme_${index}.csv`) },
        })),
      ]),
      bookings,
    );
    expect({ named, pairs }).toEqual({ named: [], pairs: [] });
  });

  it('such as a spreadsheet that calls itself CSV, is not read, but counted', async () => {
    const sheet = base64(Buffer.from('504b03041400000008000102', 'hex'));
    const headers = [...attachment('a.csv'), 'Content-Transfer-Encoding: base64'];
    const mail = multipart('mixed', [{ type: 'text/csv', body: sheet, headers }]);
    expect((await readNames(mail, bookings)).mail).toMatchObject({ unreadAttachments: 1 });
    await expect(readNames(Buffer.from('504b0304140000', 'hex'), bookings)).rejects.toMatchObject({
      reason: 'no-text',
    });
  });
});
