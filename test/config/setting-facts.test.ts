import { describe, expect, it } from 'vitest';
import { readSettingFacts } from '../../src/config/single-setting.js';

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
