import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { parsePathTemplate, readFileLocation } from '../../../src/sources/files/day-file.js';
import { dayFileKind } from '../../../src/sources/files/settings.js';

const day = createBusinessDay('2026-11-05', 'Europe/Madrid');

describe('a path template', () => {
  it.each([
    ['/exports/bookings-{day}.csv', '/exports/bookings-2026-11-05.csv'],
    ['/exports/{day:yyyy/MM}/{day}.csv.gz', '/exports/2026/11/2026-11-05.csv.gz'],
    ["/exports/{day:'on' d MMM}.csv", '/exports/on 5 Nov.csv'],
    ['{day+1}/{day+1:ddMM}', '2026-11-06/0611'],
    ['/exports/the same every day.csv', '/exports/the same every day.csv'],
    ['/expörts/$1 $& (day)/{day}', '/expörts/$1 $& (day)/2026-11-05'],
  ])('writes %s as %s', (template, path) => {
    expect(parsePathTemplate(template)(day)).toBe(path);
  });

  it.each(['{date}', '{}', '{day+2}', '$' + '{HOME}'])(
    'refuses the unknown %s, and says what is known',
    (placeholder) => {
      const parse = () => parsePathTemplate(`/exports/${placeholder}.csv`);
      expect(parse).toThrow(RangeError);
      expect(parse).toThrow(/only \{day\}, \{day\+1\} and \{day:ddMMyyyy\}/);
    },
  );

  it.each(['{day', 'day}', '{day}}', '{{day}}', '{{day}', '}{'])('refuses %s, an unmatched brace', (text) => {
    expect(() => parsePathTemplate(`/exports/${text}.csv`)).toThrow(RangeError);
  });

  it.each(['{day:}', '{day:DDMMYYYY}', '{day:export}', '{day:YYYY}'])(
    'refuses %s, which is not a date-fns pattern',
    (text) => {
      const parse = () => parsePathTemplate(`/exports/${text}.csv`);
      expect(parse).toThrow(RangeError);
      expect(parse).toThrow(/date-fns/);
    },
  );

  it.each([
    "{day:'../'yyyy}",
    "{day:'..'}",
    "..{day:'/'yyyy}",
    "{day:yyyy'/'}../x",
    "{day:yyyy'//'MM}",
    "{day:yyyy'\0'}",
    "{day:'sftp://evil.example/'yyyy}",
    "{day:yyyy'?x=1'}",
    "{day:yyyy'%2e%2e'}",
    "{day:yyyy'$(reboot)'}",
  ])('refuses %j, whose quotes lead elsewhere', (text) => {
    expect(() => parsePathTemplate(`/exports/${text}.csv`)).toThrow(/nothing that leads elsewhere/);
  });

  it('never leads to another folder, whatever the pattern', () => {
    const letters = fc.constantFrom('y', 'M', 'd', 'E', 'Q', '.', '/', "'", '-', ' ', '..', '\\', ':', 'x');
    const pattern = fc.array(letters, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(pattern, fc.constantFrom('', '.', '..', '/', '../', 'x'), (pattern, beside) => {
        let path: string;
        try {
          path = parsePathTemplate(`/exports/a${beside}{day:${pattern}}${beside}b`)(day);
        } catch {
          return;
        }
        const literal = `/exports/a${beside}|${beside}b`.split(/[/|]/).filter((part) => part === '..').length;
        expect(path.split(/[/\\]/).filter((part) => part === '..').length).toBeLessThanOrEqual(literal);
      }),
      { numRuns: 2_000 },
    );
  });
});

it('the paths of a source start at the folder of the configuration', () => {
  const sftp = { username: 'u', hostKey: 'SHA256:x', privateKeyFile: 'keys/id' };
  expect(
    dayFileKind.resolve({ path: 'in/{day}', doneMarker: '../{day}.done', sftp }, '/etc/agency'),
  ).toMatchObject({
    ...{ path: '/etc/agency/in/{day}', doneMarker: '/etc/{day}.done' },
    sftp: { privateKeyFile: '/etc/agency/keys/id' },
  });
  const elsewhere = { path: 's3://bucket/{day}', doneMarker: 'sftp://host/{day}' };
  expect(dayFileKind.resolve(elsewhere, '/etc/agency')).toEqual(elsewhere);
});

describe('the location of daily files', () => {
  it.each([
    ['/exports/{day:yyyy/MM}/x.csv', { kind: 'local', path: '/exports/{day:yyyy/MM}/x.csv' }],
    ['C:\\exports\\{day}.csv', { kind: 'local', path: 'C:\\exports\\{day}.csv' }],
    [
      's3://my-bucket/a/{day:yyyy/MM}/{day}.csv.gz',
      { kind: 's3', bucket: 'my-bucket', key: 'a/{day:yyyy/MM}/{day}.csv.gz' },
    ],
    [
      'sftp://drop.example.com/out/{day}.csv',
      { kind: 'sftp', host: 'drop.example.com', port: 22, root: '/', path: 'out/{day}.csv' },
    ],
    [
      'sftp://10.0.0.7:2222/~/{day}.csv',
      { kind: 'sftp', host: '10.0.0.7', port: 2222, root: '', path: '{day}.csv' },
    ],
    ['sftp://[::1]:2222/{day}.csv', { kind: 'sftp', host: '::1', port: 2222, root: '/', path: '{day}.csv' }],
  ])('%s', (text, location) => {
    expect(readFileLocation(text)).toEqual(location);
  });

  it.each([
    'file:///etc/passwd',
    's3://bucket',
    's3://bucket/folder/',
    's3://bucket/../other/{day}.csv',
    's3://key:hush-canary@bucket/{day}.csv',
    's3://bucket/{day}.csv?secretAccessKey=hush-canary',
    's3://{day}/x.csv',
    'sftp://host',
    'sftp://host/../{day}.csv',
    'sftp://host/~/../{day}.csv',
    'sftp://host/a\\b',
    'sftp://user:hush-canary@host/{day}.csv',
    'sftp://host:65536/{day}.csv',
    'sftp://{day}/x.csv',
  ])('is not %s, which is not quoted', (text) => {
    expect(() => readFileLocation(text)).toThrow(RangeError);
    expect(() => readFileLocation(text)).not.toThrow(/hush-canary/);
  });
});
