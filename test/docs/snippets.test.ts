// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { readCommandLine } from '../../jobs/program.js';
import { parse, service, source } from '../config/writing.js';
import { type Night, prepareNight } from './night.js';
import { pages, readBlocks } from './pages.js';
import { checkedByHand, effects, parsedOnly } from './snippets.js';

const blocks = pages.flatMap(readBlocks);

const isShell = (language: string) => ['sh', 'crontab'].includes(language);

/** Each line of the pages for a shell: comments and empty lines are left out, continued lines are joined. */
const lines = blocks
  .filter(({ language }) => isShell(language))
  .flatMap(({ place, text }) =>
    text
      .replaceAll(/ *\\\n */g, ' ')
      .split('\n')
      .map((line) => ({ place, line: line.replace(/(?:^|\s{2,})#.*$/, '').trim() })),
  )
  .filter(({ line }) => line !== '');

/** What follows `hotel-review` where a line calls it, up to a pipe or a redirection. */
function findCall(line: string): string | undefined {
  const [, call] =
    /^(?:npx --no )?hotel-review (.+)/.exec(line) ??
    /(?:\/\.bin\/hotel-review|hotel-review\.js) (.+)/.exec(line) ??
    /^docker compose run --rm (?:--\S+ |-T )*(?:serve|sandbox) (.+)/.exec(line) ??
    [];
  return call?.split(/\s(?:2?>>?|<|\||\|\||&&)\s?/)[0];
}

/** As a shell does. The pages' variables stand for days. */
function splitWords(call: string): readonly string[] {
  return [...call.matchAll(/"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^\s"']+)/g)].map(({ groups }) =>
    (groups?.double ?? groups?.single ?? groups?.bare ?? '')
      .replace('$(date -d yesterday +%F)', 'yesterday')
      .replace('$day', '2026-11-20'),
  );
}

const calls = [...new Set(lines.flatMap(({ line }) => findCall(line) ?? []))];

describe('The blocks of the pages', () => {
  const isCheckedByHand = (language: string, text: string) =>
    checkedByHand.some((entry) => entry.language === language && entry.text.test(text));

  it.each(blocks.filter(({ language }) => language !== 'yaml' && !isShell(language)))(
    'are known: $language at $place',
    ({ language, text }) => expect(isCheckedByHand(language, text)).toBe(true),
  );

  it.each(lines.filter(({ line }) => findCall(line) === undefined))(
    'are known: $line ($place)',
    ({ line }) => {
      expect(isCheckedByHand('sh', line)).toBe(true);
    },
  );

  it('that are checked by hand are still there, and so is what checks them', () => {
    const all = [...blocks, ...lines.map(({ line }) => ({ language: 'sh', text: line }))];
    for (const { language, text, checkedBy } of checkedByHand) {
      expect(
        all.some((block) => block.language === language && text.test(block.text)),
        `${text}`,
      ).toBe(true);
      expect(existsSync(checkedBy), checkedBy).toBe(true);
    }
  });
});

describe('The settings in the pages', () => {
  const samples = blocks.filter(
    ({ language, text }) =>
      language === 'yaml' &&
      !checkedByHand.some((entry) => entry.language === 'yaml' && entry.text.test(text)),
  );

  it.each(samples)('are valid, and hold no secret: $place', ({ text }) => {
    const settings = { service, source, ...parseYaml(text.replaceAll(/\$\{file:[^}]*\}/g, '${FROM_FILE}')) };
    const { literalSecrets } = parse(settings, listVariables(JSON.stringify(settings)));
    expect(literalSecrets.filter((name) => text.includes(name.split('.').at(-1) ?? ''))).toEqual([]);
  });
});

/** A value of the right form for each variable that settings name. */
function listVariables(settings: string): Record<string, string> {
  const names = [...settings.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const makeUp = (name: string) => {
    if (/BOOKINGS_URL|LEDGER/.test(name)) return 'postgres://a:b@db.example.com/hotel?sslmode=verify-full';
    if (name.endsWith('_URL')) return 'https://hooks.example.com/1';
    return `whsec_${Buffer.from('thirty-two bytes of a secret key').toString('base64')}`;
  };
  return Object.fromEntries(names.map((name) => [name, makeUp(name)]));
}

describe('The commands in the pages', () => {
  const output = { writeOut: () => {}, writeErr: () => {} };

  it.each(calls)('can be given: %s', async (call) => {
    await expect(readCommandLine(splitWords(call), '1.0.0', output)).resolves.not.toThrow();
  });

  it('are run, or run elsewhere', () => {
    const known = [...effects.map(({ call }) => call), ...parsedOnly.flatMap((entry) => entry.calls)];
    expect(known.sort()).toEqual(calls.toSorted());
    for (const { checkedBy } of parsedOnly) expect(existsSync(checkedBy), checkedBy).toBe(true);
  });

  describe('do on a night what the pages say', () => {
    let night: Night;
    beforeAll(async () => {
      night = await prepareNight();
    });
    afterAll(() => night?.remove());

    it.each(effects)('$call', async ({ call, exitCode = 0, prints, writes, before, after }) => {
      await before?.(night);
      const words = await fillIn(splitWords(call), night);
      expect(await night.run(words)).toEqual({ exitCode, text: expect.stringMatching(prints) });
      if (writes !== undefined) expect(existsSync(join(night.folder, writes))).toBe(true);
      after?.(night);
    });
  });
});

/** Puts what this night has in place of the pages' examples: folders, files, a case, a hotel. */
async function fillIn(words: readonly string[], { folder, run }: Night): Promise<readonly string[]> {
  const [first, second] = words;
  if (first === 'case') {
    const { text } = await run(['show', 'BR-1042']);
    return [first, /case (\d+):/.exec(text)?.[1] ?? '', ...words.slice(2)];
  }
  if (first === 'mappings' && second === 'show') {
    const text = readFileSync(join(folder, 'exports/bookings-2026-11-20.csv'), 'utf8');
    return [...words.slice(0, 3), /,Bedlink,(BL-\d+),/.exec(text)?.[1] ?? ''];
  }
  return words.flatMap((word) => {
    if (!word.includes('*')) return [word.replace(/^\/(?:etc|var)\/.*\//, '')];
    const names = readdirSync(join(folder, dirname(word))).filter((name) =>
      name.endsWith(basename(word).slice(1)),
    );
    return names.slice(0, 3).map((name) => join(dirname(word), name));
  });
}
