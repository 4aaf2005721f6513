import { describe, expect, it } from 'vitest';
import { countCode } from './code.js';
import { listLeaves } from './settings.js';

describe('counting code', () => {
  it('leaves out blank lines and comments, and nothing that only looks like one', () => {
    const text = [
      '/** A comment',
      ' * of several lines. */',
      '',
      "import type { Day } from '../booking/day.js'; // why",
      '// a line',
      'const url = "https://example.com"; /* and */ const pattern = /\\/\\*/;',
      'const text = `// ' + '$' + '{url}',
      '/* kept */`;',
    ].join('\n');
    const { lines, imports } = countCode('src/review/run.ts', text);
    expect(lines).toBe(4);
    expect(imports).toEqual(['src/booking/day.ts']);
  });

  it('counts comments of style sheets neither', () => {
    expect(
      countCode('src/desk/desk.css', 'a {\n  /* one\n two */\n  color: red; /* three */\n}\n').lines,
    ).toBe(3);
  });

  it('counts each import once, however it is written', () => {
    const text = `import type { A } from './a.js';
      import { a } from './a.js';
      export * from '../b.js';
      type C = import('./c.js').C;
      const d = await import('./d.js');
      import 'node:fs';`;
    expect(countCode('src/review/run.ts', text).imports).toEqual([
      'src/review/a.ts',
      'src/b.ts',
      'src/review/c.ts',
      'src/review/d.ts',
    ]);
  });

  it('counts interfaces, aliases and uses of Pick', () => {
    const text = `interface A extends Pick<B, 'b'> {}
      type C = Readonly<Pick<A, 'b'>> | Omit<A, 'b'>;
      const pick = Pick(1);`;
    expect(countCode('jobs/commands/run.ts', text)).toMatchObject({ types: 2, picks: 2 });
  });
});

describe('counting settings', () => {
  it('counts the path of each value once, also within lists, free names and alternatives', () => {
    const schema = {
      properties: {
        zone: {},
        source: {
          oneOf: [
            { properties: { kind: {}, path: {} } },
            { properties: { kind: {}, url: {}, headers: { additionalProperties: {} } } },
          ],
        },
        notify: { items: { properties: { on: { items: {} } }, additionalProperties: false } },
        ledger: { anyOf: [{ allOf: [{}] }, { properties: { path: {} } }] },
      },
    };
    expect([...listLeaves(schema)].sort()).toEqual([
      'ledger',
      'ledger.path',
      'notify[].on[]',
      'source.headers.*',
      'source.kind',
      'source.path',
      'source.url',
      'zone',
    ]);
  });
});
