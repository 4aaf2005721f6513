import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CommandIo } from '../../jobs/process.js';
import { captureIo } from '../support/command-io.js';
import { type DayFolder, day, prepareDay, type Settings } from '../support/day-folder.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { attachment, htmlTable, mailOf, multipart } from '../verdict-mails/mails.js';

/** BR-1001 to BR-1020, each with a hotel of its own, with stays in the future whenever this runs. */
const bookings = makeBookings(20, { first: 1_001 }).map((booking) => ({
  ...booking,
  CheckInDate: '2031-01-02',
  CheckOutDate: '2031-01-09',
}));

/** The beginning of a spreadsheet. */
const sheetBytes = Buffer.from('504b03041400000008000102', 'hex');

interface Imported {
  readonly file: string;
  readonly messageId: string | null;
  readonly outcome: string;
  readonly reason?: string;
  readonly bookings: readonly { readonly reference: string; readonly day: string }[];
  readonly correct: number;
  readonly unreadAttachments: number;
}

async function prepare(settings: Settings = {}) {
  const { folder } = await prepareDay({ bookings: toCsv(bookings), settings });
  expect((await folder.runDay()).exitCode).toBe(0);
  let written = 0;
  const save = async (name: string, content: string | Buffer) => {
    written += 1;
    // E-mails have a Message-ID of their own.
    const text = typeof content === 'string' ? content.replace('<m1@', `<m${written}@`) : content;
    await writeFile(join(folder.path, name), text);
    return name;
  };
  const importFile = async (name: string) => {
    const { exitCode, json } = await folder.run(['verdicts', 'import', name, '--json']);
    return { exitCode, emails: (json as { readonly emails: readonly Imported[] }).emails };
  };
  return { folder, save, importFile };
}

interface ListedCase {
  readonly id: number;
  readonly providerHotelId: string;
  readonly origins: readonly string[];
  readonly state: string;
}

async function listCases(folder: DayFolder): Promise<readonly ListedCase[]> {
  const { json } = await folder.run(['cases', '--json']);
  return (json as { readonly cases: readonly ListedCase[] }).cases;
}

async function readVerdict(folder: DayFolder, reference: string) {
  const { json } = await folder.run(['show', reference, '--json']);
  const [history] = (json as { readonly bookings: readonly Record<string, unknown>[] }).bookings;
  const { verdict, verdictReason, notNamedUntil } = history ?? {};
  return {
    verdict,
    ...(verdictReason !== undefined && { verdictReason }),
    ...(notNamedUntil !== undefined && { notNamedUntil }),
  };
}

const referencesOf = (emails: readonly Imported[]) =>
  emails.map(({ bookings: named }) => named.map(({ reference }) => reference));

describe('verdicts import', () => {
  it('opens a case for what an e-mail names, which show then calls affected', async () => {
    const { folder, save, importFile } = await prepare();
    const table = htmlTable([
      ['Booking reference', 'Provider', 'Hotel'],
      ['BR-1007', 'Expedia', '001007A'],
    ]);
    const name = await save('incorrect.eml', mailOf('text/html', table));
    expect(await importFile(name)).toEqual({
      exitCode: 0,
      emails: [
        {
          file: 'incorrect.eml',
          messageId: '<m1@service.example>',
          receivedAt: '2026-11-21T05:10:00.000Z',
          outcome: 'named',
          bookings: [{ reference: 'BR-1007', day }],
          pairs: [],
          ...{ correct: 0, unreadAttachments: 0 },
        },
      ],
    });
    expect(await listCases(folder)).toMatchObject([
      { providerHotelId: '001007A', origins: ['email'], state: 'open' },
    ]);
    expect(await readVerdict(folder, 'BR-1007')).toEqual({ verdict: 'incorrect' });
    expect(await readVerdict(folder, 'BR-1008')).toEqual({ verdict: 'unknown', verdictReason: 'by-email' });
    const { json } = await folder.run(['status', day, '--json']);
    // Nobody knows whether all e-mails have arrived.
    expect(json).toMatchObject({ runs: [{ counts: { affected: null, unanswered: null } }] });
  });

  it('reads what was saved from an e-mail, and standard input', async () => {
    const { folder, save, importFile } = await prepare();
    const csv = await save('list.csv', 'BookingReferenceId;IsCorrectMapping\nBR-1001;false\nBR-1002;true\n');
    const text = await save('list.txt', 'Wrong ones:\nBR-1003\nBR-1004\n');
    expect(referencesOf((await importFile(csv)).emails)).toEqual([['BR-1001']]);
    expect(referencesOf((await importFile(text)).emails)).toEqual([['BR-1003', 'BR-1004']]);
    const { exitCode, stdout } = await importInput(folder, mailOf('text/plain', 'Incorrect: BR-1005'));
    expect(exitCode).toBe(0);
    expect(stdout).toContain('names 1 booking\n  BR-1005  of 2026-11-20\n');
    expect(await listCases(folder)).toHaveLength(4);
    const { json } = await folder.run(['verdicts', 'list', '--json']);
    expect((json as { emails: { from: string }[] }).emails.map(({ from }) => from).sort()).toEqual([
      'file',
      'file',
      'standard input',
    ]);
  });

  it('reads each e-mail of an mbox, and exits with 1 if one cannot be read', async () => {
    const { folder, save, importFile } = await prepare();
    const separator = 'From service@service.example Mon Nov 23 04:52:16 2026\n';
    let deep = 'x';
    for (let depth = 0; depth < 40; depth += 1)
      deep = `Content-Type: multipart/mixed; boundary="b${depth}"\n\n--b${depth}\n${deep}\n--b${depth}--\n`;
    const mbox = [
      separator + mailOf('text/plain', 'Incorrect: BR-1001').replaceAll('\r\n', '\n'),
      `${separator}Subject: x\nFrom: a@b.example\n${deep}`,
      separator +
        mailOf('text/plain', '>From now on: BR-1002').replace('<m1@', '<m2@').replaceAll('\r\n', '\n'),
    ].join('\n\n');
    const { exitCode, emails } = await importFile(await save('reviews.mbox', mbox));
    expect(exitCode).toBe(1);
    expect(emails.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['named', undefined],
      ['unreadable', 'too-deep'],
      ['named', undefined],
    ]);
    expect(referencesOf(emails)).toEqual([['BR-1001'], [], ['BR-1002']]);
    const { stdout } = await folder.run(['verdicts', 'list', '--unknown']);
    expect(stdout).toMatch(/unreadable: its parts or forwarded e-mails are nested too deeply +file\n$/);
  });

  it('changes nothing the second time, whatever the line ends and the name of the file', async () => {
    const { folder, save, importFile } = await prepare();
    const mail = mailOf('text/plain', 'Incorrect: BR-1001, BR-1002');
    await importFile(await save('a.eml', mail));
    const [before] = await listCases(folder);
    await folder.run(['case', String(before?.id), 'dismiss', '--note', 'the hotel was renamed']);
    const { json: listed } = await folder.run(['verdicts', 'list', '--json']);
    await writeFile(join(folder.path, 'b.eml'), mail.replaceAll('\r\n', '\n'));
    const again = await importFile('b.eml');
    expect(again).toMatchObject({ exitCode: 0, emails: [{ outcome: 'already-read' }] });
    expect(referencesOf(again.emails)).toEqual([['BR-1001', 'BR-1002']]);
    expect(await folder.run(['verdicts', 'list', '--json'])).toMatchObject({ json: listed });
    const { json } = await folder.run(['case', String(before?.id), '--json']);
    expect(json).toMatchObject({ state: 'dismissed', origins: ['email'] });
  });

  it('sets aside what names nothing known, and reports it', async () => {
    const { folder, save, importFile } = await prepare();
    const sheet = {
      type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      body: 'UEsDBA==',
      headers: [...attachment('incorrect.xlsx'), 'Content-Transfer-Encoding: base64'],
    };
    const name = await save(
      'sheet.eml',
      multipart('mixed', [{ type: 'text/plain', body: 'See attachment.' }, sheet]),
    );
    const { exitCode, emails } = await importFile(name);
    expect({ exitCode, emails }).toMatchObject({
      exitCode: 0,
      emails: [{ outcome: 'nothing-known', bookings: [], unreadAttachments: 1 }],
    });
    const words = await folder.run([
      'verdicts',
      'import',
      await save('other.eml', multipart('mixed', [sheet])),
    ]);
    expect(words.stdout).toContain('names nothing that the ledger knows: read it yourself\n');
    expect(words.stdout).toContain('not read: 1 attachment without text, such as a spreadsheet');
    const { stdout } = await folder.run(['verdicts', 'list', '--unknown']);
    expect(stdout.match(/nothing-known: an attachment was not read/g)).toHaveLength(2);
    expect(await listCases(folder)).toEqual([]);
  });

  it('says why a file cannot be read, with exit 1, or 2 where there is none', async () => {
    const { folder, save } = await prepare();
    const sheet = await save('incorrect.xlsx', sheetBytes);
    const unread = await folder.run(['verdicts', 'import', sheet]);
    expect(unread.exitCode).toBe(1);
    expect(unread.stdout).toContain("can't be read: it is no text; save a spreadsheet as CSV");
    const missing = await folder.run(['verdicts', 'import', 'missing.eml']);
    expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('(ENOENT)') });
    const directory = await folder.run(['verdicts', 'import', '.']);
    expect(directory).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is not a file') });
  });
});

describe('No e-mail ever clears a booking', () => {
  it('one whose column calls everything correct opens no case, and clears none', async () => {
    const { folder, save, importFile } = await prepare();
    await importFile(await save('wrong.eml', mailOf('text/plain', 'Incorrect: BR-1001')));
    const table = htmlTable([
      ['BookingReferenceId', 'IsCorrectMapping'],
      ...bookings.map(({ BookingReferenceId }) => [BookingReferenceId, 'true']),
    ]);
    const judged = await importFile(await save('table.eml', mailOf('text/html', table)));
    expect(judged.emails).toMatchObject([{ outcome: 'nothing-known', bookings: [], correct: 20 }]);
    expect(await readVerdict(folder, 'BR-1001')).toEqual({ verdict: 'incorrect' });
    expect(await readVerdict(folder, 'BR-1002')).toEqual({ verdict: 'unknown', verdictReason: 'by-email' });
    expect(await listCases(folder)).toMatchObject([{ providerHotelId: '001001A', state: 'open' }]);
  });

  it('and a sentence does not even keep a booking from being named', async () => {
    const { folder, save, importFile } = await prepare();
    const mail = mailOf('text/plain', 'All mappings are correct, also that of BR-1001.\r\n');
    const { emails } = await importFile(await save('all.eml', mail));
    expect(emails).toMatchObject([{ outcome: 'named', bookings: [{ reference: 'BR-1001' }], correct: 0 }]);
    expect(await listCases(folder)).toMatchObject([{ providerHotelId: '001001A', state: 'open' }]);
  });
});

it('A booking that no e-mail names stays unknown, and is not named up to when the mailbox was last read', async () => {
  const verdicts = { maildir: './mail', from: ['@service.example'], pollMinutes: 0.002 };
  const { folder, save, importFile } = await prepare({
    schedule: { catchUpDays: 1, cron: '0 0 1 1 *' },
    verdicts,
  });
  await importFile(await save('wrong.eml', mailOf('text/plain', 'Incorrect: BR-1001')));
  const unknown = { verdict: 'unknown', verdictReason: 'by-email' };
  expect(await readVerdict(folder, 'BR-1002')).toEqual(unknown);
  for (const name of ['new', 'cur']) await mkdir(join(folder.path, 'mail', name), { recursive: true });
  const serving = folder.call(['serve', '--port', '0']);
  onTestFinished(async () => {
    serving.stop('SIGTERM');
    await serving.ended;
  });
  const readUntil = { notNamedUntil: expect.stringMatching(/^\d{4}-/) };
  await vi.waitFor(
    async () => expect(await readVerdict(folder, 'BR-1002')).toEqual({ ...unknown, ...readUntil }),
    { timeout: patienceMs },
  );
  expect((await folder.run(['show', 'BR-1002'])).stdout).toMatch(
    /verdict: unknown, it went by body, and is not named by any e-mail up to \d{4}-/,
  );
  expect(await readVerdict(folder, 'BR-1001')).toEqual({ verdict: 'incorrect' });
});

/** `verdicts import -` */
async function importInput(folder: DayFolder, input: string) {
  const built = new URL('../../dist/jobs/main.js', import.meta.url).href;
  const { main } = (await import(built)) as typeof import('../../jobs/main.js');
  const stdin = Object.assign(Readable.from([Buffer.from(input)]), { isTTY: false });
  const { io, stdout } = captureIo({ cwd: folder.path, stdin: stdin as unknown as CommandIo['stdin'] });
  return { exitCode: await main(['verdicts', 'import', '-'], io), stdout: stdout.text() };
}
