// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables

import { describe, expect, it } from 'vitest';
import { complain, complainOf, complainOfText, parse, parseText, service } from './writing.js';

const apiKey = (text: string, env: NodeJS.ProcessEnv) =>
  parse({ service: { ...service, apiKey: text } }, env).service.apiKey;

describe('the environment', () => {
  it('replaces every reference in a text, or the whole text', () => {
    expect(apiKey('${KEY}', { KEY: 'k-9' })).toBe('k-9');
    expect(apiKey('a-${KEY}-${KEY_2}-${KEY}', { KEY: 'k', KEY_2: 'l' })).toBe('a-k-l-k');
  });

  it('is taken literally: its values are not searched for references', () => {
    expect(apiKey('${KEY}', { KEY: '${OTHER}$&$1' })).toBe('${OTHER}$&$1');
  });

  it('is not referenced by $${ or by a single $', () => {
    expect(apiKey('$${KEY}-$KEY-5$', {})).toBe('${KEY}-$KEY-5$');
  });

  it('does not replace references in names or comments', () => {
    expect(complain({ '${NAME}': 1 }, { NAME: 'timezone' })).toEqual(['[…]: unknown setting']);
    expect(
      parseText(`# \${NOWHERE}\nservice: ${JSON.stringify(service)}\nsource: { kind: csv, path: x }`),
    ).toBeDefined();
  });

  it.each(['${}', '${MY-KEY}', '${KEY:-other}', '${KEY', '${ KEY }'])(
    'is not referenced by %s',
    (written) => {
      expect(complain({ service: { ...service, apiKey: written } }, { KEY: 'k' })).toEqual([
        'service.apiKey: expected ${NAME} with a name of letters, digits and _, or ${file:PATH} (a literal ${ is written $${), got: another form',
      ]);
    },
  );
});

describe('text that is not YAML', () => {
  it.each([
    ['a: 1\na: 2', 'line 2, column 1: expected YAML, got: a duplicate name'],
    ['a: "canary', 'line 1, column 11: expected YAML, got: a missing quote, bracket or space'],
    [
      'a: "canary\\q"',
      'line 1, column 11: expected YAML, got: an unknown escape between double quotes (a backslash is written \\\\ there)',
    ],
    ['a: 1\n---\nb: 2', 'line 2, column 1: expected YAML, got: a second document'],
    ['a: !canary', 'line 1, column 4: expected YAML, got: a tag (a text that begins with ! needs quotes)'],
    ['a: *canary', 'line 1, column 4: expected YAML, got: an alias (a text that begins with * needs quotes)'],
  ])('%j is reported with its place, and not quoted', (text, complaint) => {
    expect(complainOfText(text)).toContain(complaint);
    expect(complainOf(() => parseText(text)).message).not.toContain('canary');
  });

  it('is the only problem reported: the settings cannot be read yet', () => {
    expect(complainOfText('timezone: Mars\nbody: {\n')).toHaveLength(1);
  });
});

describe('a setting without a value', () => {
  it('counts as absent, so that the content of a group can be commented out', () => {
    const text = `service: ${JSON.stringify(service)}\nsource: { kind: csv, path: x }\nbody:\n  # batchSize: 100\nrecordDays:\n`;
    expect(parseText(text)).toMatchObject({ body: { batchSize: 500 }, recordDays: 800 });
  });

  it('differs from an explicit null', () => {
    expect(complain({ guestNameDays: null })).toEqual([
      'guestNameDays: expected a whole number from 1 to 36500, got: null',
    ]);
  });
});
