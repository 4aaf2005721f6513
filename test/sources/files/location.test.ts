import { describe, expect, it } from 'vitest';
import { readFileLocation } from '../../../src/sources/files/day-file.js';

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

  it.each(['bookings', 's3://bucket/a', 'sftp://host/a'])('cannot be changed by a pattern: %s', (before) => {
    for (const pattern of [
      "'../'yyyy",
      "yyyy'/..'",
      "'..'",
      "'/../..'yyyy",
      "'\\'yyyy",
      "'@evil.example/'yyyy",
    ]) {
      expect(() => readFileLocation(`${before}/{day:${pattern}}.csv`)).toThrow(RangeError);
    }
  });
});
