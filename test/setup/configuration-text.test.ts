// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables

import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import * as z from 'zod';
import { serviceFields } from '../../src/booking/booking.js';
import type { Examination } from '../../src/checks/examination/examine-day.js';
import {
  type Answers,
  rules as answerRules,
  checkAnswer,
  renderSecrets,
} from '../../src/checks/setup/answers.js';
import { renderConfiguration } from '../../src/checks/setup/configuration-text.js';
import { parseConfig } from '../../src/config/parse.js';
import type { FileAnswers } from '../../src/sources/files/setup.js';
import { hookSecret } from '../support/hook-secrets.js';
import { masterIdOnly } from '../support/source-columns.js';
import { answer, server } from './answering.js';

const noFile: Examination = { kind: 'no-file' };
const examined: Extract<Examination, { kind: 'examined' }> = {
  kind: 'examined',
  location: 'exports/bookings-2026-11-20.csv',
  day: '2026-11-20',
  columns: new Map([
    ['ServiceId', 'hotel_id'],
    ['ProviderName', 'ProviderName'],
  ]),
  missing: ['BookingReferenceId', 'BookingClientName', 'ProviderHotelId', 'CheckInDate', 'CheckOutDate'],
  unused: ['price', 'room "type"'],
  dates: { kind: 'one', format: 'dd/MM/yyyy', read: 9, seen: 9 },
  delimiter: ';',
};

const render = (answers = answer(), examination: Examination = noFile) =>
  renderConfiguration({ answers, examination, schema: './hotel-review.schema.json' });
const load = (text: string, answers = answer()) =>
  parseConfig({ text, file: '/agency/hotel-review.yaml', env: parseEnv(renderSecrets(answers)) });

/** Uncomments every option: `# name: value`, and the lines of a group below it. */
const uncomment = (text: string) =>
  text
    .split('\n')
    .map((line) => (/^ *# +(?!PLACEHOLDER)\w+:( |$)/.test(line) ? line.replace('# ', '') : line))
    .join('\n');

describe('A written configuration', () => {
  it('names the JSON Schema in its first line', () => {
    expect(render().split('\n')[0]).toBe('# yaml-language-server: $schema=./hotel-review.schema.json');
  });

  it('loads as it is, with placeholders that say so', () => {
    const answers = answer({ sftp: server });
    const text = render(answers);
    expect(load(text, answers)).toMatchObject({
      service: {
        baseUrl: 'https://service.example.com/api/3.0',
        apiKey: 'change-me',
        accountId: 'change-me',
      },
      delivery: 'file',
      file: {
        sftp: { host: 'sftp.example.com', password: 'change-me', hostKey: `SHA256:${'A'.repeat(43)}` },
      },
      literalSecrets: [],
    });
    const placeholders = [...text.matchAll(/# PLACEHOLDER: .*\n(?: +# .*\n)* *(\w+):/g)].map(
      ([, name]) => name,
    );
    expect(placeholders).toEqual(['baseUrl', 'host', 'username', 'hostKey']);
    expect(text).toContain('hotel-review doctor');
  });

  it('has no placeholder if everything is known but the host key, which doctor shows', () => {
    const sftp = { host: 'h', port: 2222, username: 'u', keyFile: 'id' };
    const answers = answer({ baseUrl: 'https://maps.test/api/3.0', sftp });
    const text = render(answers, { ...examined, missing: [] });
    expect(text.match(/PLACEHOLDER:.*/g)).toEqual([expect.stringContaining('doctor')]);
    expect(load(text, answers).file.sftp).toMatchObject({ port: 2222, privateKeyFile: '/agency/id' });
  });

  it('means the same with its options uncommented: they show the defaults', () => {
    for (const answers of [answer({ sftp: server }), answer()]) {
      const text = render(answers);
      const all = uncomment(text)
        // The samples that are not defaults.
        .replace(/^ {2}columns:\n {4}ServiceId: hotel_id\n/m, '')
        .replace(/^ {2}where:\n {4}Status: .*\n/m, '');
      expect(all).toMatch(/^ {2}timeoutSeconds: 30$/m);
      expect(all).toMatch(/^ {2}concurrency: 8$/m);
      expect(all).toMatch(/^recordDays: 800$/m);
      expect(load(all, answers)).toEqual(load(text, answers));
    }
  });

  it('takes the secret of the hook from .env, where there is one', () => {
    expect(render()).not.toMatch(/^hook:/m);
    const answers = answer({ secrets: { hookSecret } });
    expect(load(render(answers), answers).hook.secret).toBe(hookSecret);
  });

  it('shows the columns, the dates and the delimiter of an export, and its unused columns', () => {
    const text = render(answer(), examined);
    expect(load(text).source).toMatchObject({
      columns: { ServiceId: 'hotel_id', ProviderHotelId: false },
      dateFormat: 'dd/MM/yyyy',
      delimiter: ';',
    });
    const said = text.replaceAll(/\n *# /g, ' ');
    expect(said).toContain('Unused columns: "price", "room \\"type\\"".');
    expect(text).toMatch(/^ {2}# keep: \{\}$/m);
    expect(said).toContain(
      'Not found: BookingReferenceId, BookingClientName, ProviderHotelId, CheckInDate, CheckOutDate. ',
    );
    expect(said).toContain("Under the service's own names: ProviderName.");
  });

  it('says that the source has none of the fields that were not found', () => {
    const text = render(answer(), examined);
    expect(text).toContain(
      [
        '  columns:',
        '    ServiceId: hotel_id',
        '    BookingReferenceId: false',
        '    BookingClientName: false',
        '    ProviderHotelId: false',
        '    CheckInDate: false',
        '    CheckOutDate: false',
        '',
      ].join('\n'),
    );
    expect(text.match(/PLACEHOLDER: .*/g)).toEqual([expect.stringContaining("the service's address")]);
    expect(load(text).source.columns).toMatchObject({ ServiceId: 'hotel_id', CheckOutDate: false });
  });

  it('says how many dates the pattern, or the default, cannot read', () => {
    const unread = { read: 197, seen: 200 };
    const said = 'Reads 197 of the first 200 dates in exports/bookings-2026-11-20.csv.';
    const one = render(answer(), { ...examined, dates: { kind: 'one', format: 'dd.MM.yyyy', ...unread } });
    expect(one).toContain(said);
    expect(load(one).source.dateFormat).toBe('dd.MM.yyyy');
    const usual = render(answer(), { ...examined, dates: { kind: 'usual', ...unread } });
    expect(usual).toContain(said);
    expect(render(answer(), examined)).not.toContain('Reads ');
  });

  it('says that the date format is unknown until the date columns are known', () => {
    const text = render(answer(), { ...examined, dates: { kind: 'no-column' } });
    expect(text.replaceAll(/\n *# /g, ' ')).toContain(
      'hold dates are not known yet, and so neither is their format',
    );
    expect(load(text).source.dateFormat).toBe('yyyy-MM-dd');
  });

  it('asks for the column of the master id if none looks like it', () => {
    const columns = new Map(examined.columns);
    columns.delete('ServiceId');
    columns.set('CheckInDate', 'arrival');
    const text = render(answer(), { ...examined, columns, missing: ['ServiceId'] });
    expect(text).toContain('PLACEHOLDER: which column holds the master hotel id?');
    expect(load(text).source.columns).toEqual({
      ...masterIdOnly,
      ProviderName: undefined,
      CheckInDate: 'arrival',
    });
    expect(load(uncomment(text)).source.columns).toMatchObject({ ServiceId: '…', CheckInDate: 'arrival' });
  });

  it.each(['Hotel\u00a0', '\u205f', '\u3000id', ' id '])(
    'keeps the white space of a column name: %j',
    (name) => {
      const text = render(answer(), { ...examined, columns: new Map([['ServiceId', name]]) });
      expect(load(text).source.columns).toEqual({ ...masterIdOnly, ServiceId: name });
    },
  );

  it('quotes no column names if none is known: they may be a booking', () => {
    const unknown = {
      ...examined,
      columns: new Map(),
      missing: [...serviceFields],
      unused: ['Ada', 'Roomly'],
    };
    const text = render(answer(), unknown);
    expect(text).toContain('None of its 2 columns has a known name.');
    expect(text).not.toMatch(/Ada|Roomly/);
    expect(load(text).source.columns).toEqual({});
    const uncommented = load(uncomment(text)).source.columns;
    expect(uncommented).toEqual(Object.fromEntries(serviceFields.map((field) => [field, '…'])));
  });

  it('does not decide between two possible date formats', () => {
    const readings = ['dd/MM/yyyy', 'MM/dd/yyyy'].map((format) => ({ format, read: 1, seen: 1 }));
    const text = render(answer(), { ...examined, dates: { kind: 'several', readings } });
    expect(load(text).source.dateFormat).toBe('yyyy-MM-dd');
    expect(text.replaceAll(/\n *# /g, ' ')).toContain('ambiguous: dd/MM/yyyy or MM/dd/yyyy');
  });

  it('says that an export was not understood', () => {
    const text = render(answer(), {
      kind: 'unusable',
      location: 'a.csv',
      day: '2026-11-20',
      reason: 'it is odd',
    });
    expect(text).toContain('# a.csv was examined, but it is odd.');
  });

  it('never breaks a comment with a line end in an answer', () => {
    const reason = 'it is odd\ntimezone: UTC\r\ndelivery: file';
    const text = render(answer(), { kind: 'unusable', location: 'a.csv', day: '2026-11-20', reason });
    expect(load(text)).toMatchObject({ timezone: 'Europe/Madrid', delivery: 'body' });
  });

  const rules = readFile(new URL('../../hotel-review.schema.json', import.meta.url), 'utf8').catch(() => '');

  it('loads with any answers, holds exactly them, and matches the JSON Schema', async ({ skip }) => {
    const schema = await rules;
    if (schema === '') skip('hotel-review.schema.json is not there: npm run docs');
    const editor = z.fromJSONSchema(JSON.parse(schema));
    const odd = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.constantFrom(
        '\n'.repeat(50),
        'null',
        '~',
        '1e3',
        '0x1',
        '- a',
        '#x',
        'a #b',
        '"',
        "'",
        '${X}',
        '$${X}',
        '*a',
        '!b',
        '%c',
        'a: b',
        '@',
        '`',
      ),
    );
    const known = fc.record<Partial<Answers> & { sftp: Answers['sftp']; source: FileAnswers }>({
      timezone: fc.constantFrom('UTC', 'Europe/Madrid', 'America/Argentina/Buenos_Aires'),
      baseUrl: fc.constantFrom(undefined, 'https://a.test/api/3.0/', 'http://127.0.0.1:8080'),
      source: fc.record<FileAnswers>({
        kind: fc.constantFrom('csv', 'ndjson'),
        path: odd
          .filter((path) => checkAnswer({ name: 'path', setting: ['source', 'path'] }, path) === undefined)
          // A folder, whose resolved path does not end with these dots.
          .filter((path) => !/(?:^|\/)\.\.?$/.test(path)),
      }),
      sftp: fc.option(
        fc.record({
          host: fc.option(
            odd.filter((host) => checkAnswer(answerRules.sftpHost, host) === undefined),
            { nil: undefined },
          ),
          port: fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined }),
          username: fc.option(odd, { nil: undefined }),
          keyFile: fc.option(odd, { nil: undefined }),
          hostKey: fc.option(fc.constant(`SHA256:${'b'.repeat(43)}`), { nil: undefined }),
        }),
        { nil: undefined },
      ),
    });
    const columns = fc.uniqueArray(fc.tuple(fc.constantFrom(...serviceFields), odd), {
      selector: ([field]) => field,
    });
    fc.assert(
      fc.property(
        known,
        columns,
        fc.array(odd),
        fc.constantFrom(',', ';', '\t', '|', undefined),
        (some, found, unused, delimiter) => {
          const answers = answer(some);
          const examination = { ...examined, columns: new Map(found), unused, delimiter };
          const text = render(answers, examination);
          const { source, file, timezone } = load(text, answers);
          expect(timezone).toBe(answers.timezone);
          expect('path' in source && source.path.endsWith(some.source.path.replace(/^.*\//s, ''))).toBe(true);
          const lacking = found.length === 0 ? {} : masterIdOnly;
          expect(source.columns).toEqual(
            Object.fromEntries(
              Object.entries({ ...lacking, ...Object.fromEntries(found) }).filter(
                ([field, name]) => field !== name,
              ),
            ),
          );
          if (source.kind === 'csv') expect(source.delimiter).toBe(delimiter ?? ',');
          if (answers.sftp?.username) expect(file.sftp?.username).toBe(answers.sftp.username);
          expect(editor.safeParse(parseYaml(text)).error?.issues ?? []).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });
});
