import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serviceFields } from '../../../src/booking/booking.js';
import { listUnfilled } from '../../../src/checks/doctor/settings.js';
import {
  type ConfigurationContent,
  createSourceTemplates,
  listPlaceholders,
  listSecrets,
  referToFile,
  renderConfiguration,
  renderDotEnv,
} from '../../../src/checks/setup/configuration-text.js';
import type { Examined } from '../../../src/checks/setup/examine-export.js';
import { writeSource } from '../../../src/checks/setup/examine-export.js';
import { parseConfig } from '../../../src/config/parse.js';
import { hookSecret } from '../../support/hook-secrets.js';

const generated = { hashKey: 'ZvYw4SKLhqKH1cB1nUf2qXl2Lh8gqA3bWq0m8c5e7tQ=', hookSecret };
const examined: Examined = {
  kind: 'csv',
  columns: new Map([
    ['ServiceId', 'hotel_id'],
    ['ProviderName', 'ProviderName'],
  ]),
  missing: ['BookingReferenceId', 'BookingClientName', 'ProviderHotelId', 'CheckInDate', 'CheckOutDate'],
  unused: ['price', 'room "type"'],
  unconfirmed: undefined,
  dates: [{ format: 'dd/MM/yyyy', read: 9, seen: 10 }],
  delimiter: ';',
  skipRows: 2,
  encoding: 'windows-1252',
  encodingGuess: undefined,
  isOfDayBefore: undefined,
};
const find = (changes: Partial<Examined> = {}) => ({
  examined: { ...examined, ...changes },
  location: 'in/b-2026-11-20.csv',
  path: 'in/b-{day}.csv',
  encoding: 'windows-1252',
  where: { Status: { not: ['storniert', '$' + '{X}'] } },
});
const write = (content: Partial<ConfigurationContent>): ConfigurationContent => ({
  timezone: { yaml: 'Europe/Madrid' },
  delivery: 'body',
  source: writeSource(find()),
  schema: './node_modules/hotel-review/schema/1.json',
  ...content,
});
const load = (content: ConfigurationContent, text = renderConfiguration(content)) =>
  parseConfig({
    text,
    file: '/agency/hotel-review.yaml',
    env: parseEnv(renderDotEnv(listSecrets(content, generated))),
  });
/** Without the ends of its comments' lines. */
const said = (content: Partial<ConfigurationContent>) =>
  renderConfiguration(write(content)).replaceAll(/\n *# (?!\w+: )/g, ' ');

const sourceTemplates = createSourceTemplates((file) => `./node_modules/hotel-review/${file}`);

/** Uncomments every default. */
const uncomment = (text: string) =>
  text.replaceAll(/^( *)# ((?!PLACEHOLDER|volume|smtp|from|to|on)\w+: (?!`|.*…).*)$/gm, '$1$2');

const contents = [
  ...Object.values(sourceTemplates).map((source) => write({ source })),
  write({}),
  write({ delivery: 'file' }),
];

describe('A written configuration', () => {
  it.each(contents)(
    'is valid, and means the same with its defaults uncommented ($source.kind, $delivery)',
    (content) => {
      const text = renderConfiguration(content);
      const config = load(content);
      expect(config).toMatchObject({
        ...{
          timezone: 'Europe/Madrid',
          delivery: content.delivery,
          hashKey: generated.hashKey,
          literalSecrets: [],
        },
        ...{ hook: { secret: hookSecret }, deadline: '06:00', source: { kind: content.source.kind } },
      });
      const all = uncomment(text);
      expect(all).toMatch(/^recordDays: 800$/m);
      expect(all).toMatch(/^ {2}dateFormat: /m);
      expect(load(content, all)).toEqual(config);
    },
  );

  it.each([
    ['postgres', ['baseUrl', 'query'], ['source.url', 'source.query']],
    [
      'sftp',
      ['baseUrl', 'path', 'username', 'hostKey'],
      ['source.path', 'source.sftp.username', 'source.sftp.password', 'source.sftp.hostKey'],
    ],
  ] as const)(
    'of the kind %s marks what is to be filled in, and doctor knows it',
    (kind, marked, unfilled) => {
      const content = write({ source: sourceTemplates[kind] });
      expect(listPlaceholders(renderConfiguration(content))).toEqual(marked);
      expect(listUnfilled(load(content)).filter((path) => !path.startsWith('service.'))).toEqual(
        expect.arrayContaining([...unfilled]),
      );
    },
  );

  it.each<[string, Partial<Examined>, RegExp, string[]]>([
    ['the master id', { columns: new Map(), missing: serviceFields }, /None of its 2 columns/, ['columns']],
    ['a format of dates', { dates: [] }, /was not recognised/, ['dateFormat']],
    [
      'one of two formats',
      {
        dates: [
          { format: 'dd/MM/yyyy', read: 1, seen: 1 },
          { format: 'MM/dd/yyyy', read: 1, seen: 1 },
        ],
      },
      /ambiguous, dd\/MM\/yyyy or MM\/dd\/yyyy/,
      ['dateFormat'],
    ],
    ['nothing about dates without a column', { dates: undefined }, /keep/, []],
    ['nothing about a day before', { isOfDayBefore: 'so' }, /the day before: so\./, []],
  ])('asks for %s', (_, changes, says, marked) => {
    const source = writeSource(find(changes));
    expect(said({ source })).toMatch(says);
    expect(listPlaceholders(renderConfiguration(write({ source })))).toEqual(['baseUrl', ...marked]);
  });

  it('holds any name of a column', () => {
    const name = fc.string({
      minLength: 1,
      unit: fc.constantFrom(...'aZ0 \'"`#$\\{}\n\r\t\u2028\u0085é€:-[],&*!|>%@~\u00a0'),
    });
    fc.assert(
      fc.property(name, (column) => {
        const found = find({
          columns: new Map([['ServiceId', column]]),
          unused: [column],
          missing: serviceFields.slice(1),
        });
        const source = writeSource({ ...found, where: { [`State ${column}`]: { not: [`x${column}`] } } });
        const loaded = load(write({ source })).source;
        expect(loaded.columns.ServiceId).toBe(column);
        expect(Object.keys(loaded.where)).toEqual([`State ${column}`]);
      }),
      { numRuns: 25 },
    );
  });
});

describe('The reference to the JSON Schema', () => {
  it.each([
    ['/app/s.json', '/agency', '../app/s.json'],
    ['/agency/s.json', '/agency', './s.json'],
    ['/my app/s.json', '/agency', 'file:///my%20app/s.json'],
  ])('to %s from %s is %s', (file, folder, reference) => {
    expect(referToFile(file, folder)).toBe(reference);
  });
});
