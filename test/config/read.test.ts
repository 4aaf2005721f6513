// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables

import { describe, expect, it } from 'vitest';
import { complain, complainOf, complainOfText, parse, parseText, service, writeSettings } from './writing.js';

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

const polluted = () => ({}) as { readonly polluted?: unknown };

describe('a configuration that somebody else has written', () => {
  it('expands no alias: neither to itself, nor to a billion', () => {
    const letters = [...'abcdefghij'];
    const bomb = letters.map((name, index) => {
      const inner = index === 0 ? 'x' : `*${letters[index - 1]}`;
      return `${name}: &${name} [${Array(9).fill(inner).join(', ')}]`;
    });
    const problems = complainOfText([writeSettings(), ...bomb].join('\n'));
    expect(problems[0]).toContain('expected YAML, got: an alias');
    expect(complainOfText('source: &s { kind: csv, columns: *s }')[0]).toContain('got: an alias');
  });

  it.each([
    ['at the top', '__proto__: { polluted: 1 }\nconstructor: { prototype: { polluted: 1 } }\n', '__proto__'],
    ['in a group', 'body: { __proto__: { polluted: 1 } }\n', 'body.__proto__'],
    ['by a tag', 'body: !!js/function "function () {}"\n', 'body'],
  ])('changes no prototype %s', (_where, text, path) => {
    const problems = complainOfText(writeSettings() + text);
    expect(problems.some((problem) => problem.startsWith(path) || problem.includes('tag'))).toBe(true);
    expect(polluted().polluted).toBeUndefined();
  });

  it('does not accept a name of the prototype as a setting where names are free', () => {
    const text = `${writeSettings()}service: { statusCodes: { __proto__: accepted } }\n`;
    expect(() => parseText(text)).toThrow();
    expect(polluted().polluted).toBeUndefined();
  });
});
