import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createExportFolder } from '../checks/setup/export-folder.js';
import { callCommand } from '../support/command.js';

/** As a program that knows nothing of the service writes it; one date is invalid, one record is malformed, three are cancelled. */
const germanExport = [
  'Buchungsnr;Hotel-ID;Gast;Lieferant;Hotel-Code Lieferant;Anreise;Abreise;Preis;Status;Gebucht am',
  'BR-0;17;"Unvollständig; Udo"',
  ...Array.from({ length: 199 }, (_, at) => {
    const day = String((at % 28) + 1).padStart(2, '0');
    const status = at > 195 ? 'storniert' : at > 190 ? 'offen' : 'gebucht';
    return `BR-${at + 1};${at + 20};"Müller-Lüdenscheid; Jörg";Süd & Söhne;R-${at};${day}.11.2026;${day}.12.2026;99,50;${status};20.11.2026`;
  }),
  'BR-200;16;Weiß, Änne;Süd & Söhne;R-200;31.02.2027;02.03.2027;12,00;gebucht;20.11.2026',
].join('\r\n');

async function openFolder(files: Readonly<Record<string, string | Uint8Array>>) {
  const folder = await createExportFolder(files);
  const run = (args: readonly string[], variables: NodeJS.ProcessEnv = {}) =>
    callCommand(args, { cwd: folder, env: { PATH: process.env.PATH, TZ: 'Asia/Tokyo', ...variables } }).ended;
  return { folder, run, read: (name: string) => readFile(join(folder, name), 'utf8') };
}

it('what init writes for an export of any form is accepted by doctor, and a dry run understands the day', async () => {
  const { folder, run, read } = await openFolder({
    // Named by the next day.
    'exports/buchungen_20261121.csv': Buffer.from(germanExport, 'latin1'),
  });
  const file = 'exports/buchungen_20261121.csv';

  const given: string[] = [];
  for (const option of ['--timezone Europe/Berlin', '--delivery body', '--encoding windows-1252']) {
    const refused = await run(['init', file, ...given]);
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(option.split(' ')[0] ?? ''),
    });
    given.push(...option.split(' '));
  }
  expect(await readdir(folder)).toEqual(['exports']);

  const init = await run(['init', file, ...given]);
  expect({ exitCode: init.exitCode, stdout: init.stdout }).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(
      /^Wrote hotel-review\.yaml and \.env\.\n\nNext:\n {2}1\. hotel-review run 2026-11-20 --dry-run\n {2}2\. put HOTEL_REVIEW_API_KEY and HOTEL_REVIEW_ACCOUNT_ID into \.env\n {2}3\. fill in what hotel-review\.yaml marks as PLACEHOLDER: baseUrl\n {2}4\. hotel-review doctor\n$/,
    ),
  });
  expect((await stat(join(folder, '.env'))).mode & 0o777).toBe(0o600);
  const text = await read('hotel-review.yaml');
  for (const line of [
    'timezone: Europe/Berlin',
    '  path: "exports/buchungen_{day+1:yyyyMMdd}.csv"',
    '  encoding: windows-1252',
    '  delimiter: ;',
    '  dateFormat: dd.MM.yyyy',
    '  where: { Status: { not: [ storniert ] } }',
    'deadline: "06:00"',
    '#     on: [night]',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
    'hashKey: "${HOTEL_REVIEW_HASH_KEY}"',
  ])
    expect(text.split('\n')).toContain(line);
  const env = await read('.env');
  const generated = /HASH_KEY=(.*)\n.*HOOK_SECRET=(.*)\n/.exec(env)?.slice(1) ?? [];
  expect(generated.map((one) => one.length)).toEqual([44, 50]);
  for (const said of [text, init.stdout, init.stderr]) expect(said).not.toMatch(/Müller|Weiß|31\.02/);
  for (const secret of generated) expect(`${text}${init.stdout}${init.stderr}`).not.toContain(secret);
  expect(init.stderr).toContain('22, BR-3, ***, Süd & Söhne');

  // A dry run works before there is a key.
  const dryRun = await run(['run', '--day', '2026-11-20', '--dry-run', '--json']);
  expect(dryRun).toMatchObject({
    exitCode: 0,
    json: { counts: { read: 201, filtered: 3, accepted: 197, rejected: 1 } },
  });
  expect(dryRun.json).toHaveProperty('sample.0', {
    ServiceId: 20,
    BookingReferenceId: 'BR-1',
    BookingClientName: '***',
    ProviderName: 'Süd & Söhne',
    ProviderHotelId: 'R-0',
    CheckInDate: '2026-11-01',
    CheckOutDate: '2026-12-01',
  });

  const doctor = ['doctor', '--day', '2026-11-20'];
  expect(await run(doctor)).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('placeholder') });

  const again = await run(['init', file]);
  expect(again).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('is not overwritten; edit it'),
  });
  expect(await read('hotel-review.yaml')).toBe(text);
  const beside = await run(['init', file, ...given, '--config', 'second.yaml', '--json']);
  expect(beside).toMatchObject({ exitCode: 0, json: { next: expect.any(Array) } });
  expect(await read('.env')).toBe(env);
});

it.each([
  [['init'], 'give the FILE'],
  [['init', 'no.csv', '--timezone', 'UTC', '--delivery', 'body'], 'there is no file'],
  [['init', 'note.txt'], 'is no export'],
  [['init', 'note.txt', '--timezone', 'Mars'], 'expected a time zone such as Europe/Madrid, got: Mars'],
  [['init', 'note.txt', '--kind', 'http'], 'goes without a FILE'],
])('%j is refused, and nothing is written', async (args, message) => {
  const { folder, run } = await openFolder({ 'note.txt': 'BR-1,Ada Lovelace,2026-11-20\n' });
  const refused = await run(args);
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
  expect(refused.stderr).not.toContain('Ada');
  expect(await readdir(folder)).toEqual(['note.txt']);
});

it('init --kind writes a template without any question, which doctor reads', async () => {
  const { run } = await openFolder({});
  const init = await run(['init', '--kind', 'module', '--delivery', 'file', '--json']);
  expect(init).toMatchObject({
    exitCode: 0,
    json: {
      next: [
        expect.stringMatching(/^put .*HOTEL_REVIEW_SFTP_PASSWORD into \.env$/),
        expect.stringMatching(/PLACEHOLDER: timezone, baseUrl, path, host, username, and hostKey$/),
        expect.stringMatching(/ doctor$/),
        expect.stringMatching(/ --dry-run$/),
      ],
    },
  });
  const doctor = await run(['doctor', '--json']);
  expect(doctor.exitCode).toBe(2);
  expect(JSON.stringify(doctor.json)).toContain('is understood; bookings are delivered by file');
});
