import { describe, expect, it } from 'vitest';
import { checkSetting, readSettingFacts } from '../../src/config/single-setting.js';

describe('The schema says about a setting', () => {
  it.each([
    [['timezone'], /decides which day/, 'UTC'],
    [['service', 'apiKey'], /^The account's API key/, undefined],
    [['source', 'delimiter'], /between two cells/, ','],
    [['file', 'sftp', 'port'], /port\.$/, 22],
    [['file', 'sftp', 'password'], /if no key is used/, undefined],
  ])('%j its description and its default', (path, description, fallback) => {
    expect(readSettingFacts(path)).toEqual({ description: expect.stringMatching(description), fallback });
  });

  it.each([
    ['sql', 'url', /^The database/, undefined],
    ['http', 'url', /^The address, with/, undefined],
    ['module', 'path', /^The file that exports/, undefined],
    ['ndjson', 'path', /^The file: a path on this machine/, undefined],
  ])('of the kind %s what it says about its %s', (kind, name, description, fallback) => {
    const facts = readSettingFacts(['source', name], kind);
    expect(facts).toEqual({ description: expect.stringMatching(description), fallback });
  });

  it('nothing if there is no such setting', () => {
    expect(() => readSettingFacts(['service', 'url'])).toThrow(
      'expected a setting of the schema, got: service.url',
    );
  });
});

describe('A single setting is checked as in a whole configuration', () => {
  it.each([
    [['timezone'], 'Mars', 'expected a time zone such as Europe/Madrid, got: Mars'],
    [['source', 'path'], 'b-{date}', /^expected a path with no braces but/],
    [['source', 'delimiter'], ';;', /^expected one character such as/],
    [['service', 'baseUrl'], 'maps.test', /^is not a URL/],
    [['service', 'apiKey'], 'schlüssel', /got: a text$/],
    [['file', 'sftp', 'port'], 'ssh', 'expected a whole number from 1 to 65535, got: ssh'],
  ] as const)('%j is not %s', (path, value, complaint) => {
    expect(checkSetting(path, value)).toMatch(complaint);
  });

  it.each([
    [['timezone'], 'Europe/Madrid'],
    [['source', 'path'], 'b-{day:ddMMyyyy}.csv'],
    [['service', 'baseUrl'], 'https://maps.test/api/3.0'],
    [['file', 'sftp', 'port'], 2222],
    [['delivery'], 'file'],
  ] as const)('%j is %s', (path, value) => {
    expect(checkSetting(path, value)).toBeUndefined();
  });

  it.each([
    ['postgres://h/db', "SELECT 'it\\'s' WHERE 1 = :day", /.+/],
    ['mysql://h/db', "SELECT 'it\\'s' WHERE 1 = :day", undefined],
  ])('together with the settings that it depends on: %s', (url, query, complaint) => {
    const found = checkSetting(['source', 'query'], query, { source: { kind: 'sql', url } });
    if (complaint === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(complaint);
  });
});
