import { describe, expect, it } from 'vitest';
import { complainOfText, parseText, writeSettings } from './writing.js';

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
