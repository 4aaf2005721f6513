import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { captureIo } from '../support/command-io.js';
import { projectFile } from '../support/compose-file.js';

const builtMain = new URL('../../dist/jobs/main.js', import.meta.url).href;
const { main } = (await import(builtMain)) as typeof import('../../jobs/main.js');

async function helpOf(words: readonly string[]): Promise<string> {
  const { io, stdout } = captureIo();
  expect(await main([...words, '--help'], io)).toBe(0);
  return stdout.text();
}

/** The help of each command, by its name. A command that only groups others is left out. */
async function readHelp(words: readonly string[] = []): Promise<[string, string][]> {
  const help = await helpOf(words);
  const section = /\nCommands:\n([\s\S]*?)\n\n/.exec(help)?.[1] ?? '';
  const names = [...section.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name);
  const below = names.filter((name) => name !== 'help').map((name) => readHelp([...words, name]));
  const isGroup =
    words.length === 0 ||
    ['mappings', 'hotels', 'export', 'guest', 'keys', 'notify', 'user'].includes(words.join(' '));
  const own: [string, string][] = isGroup ? [] : [[words.join(' '), help]];
  return [...own, ...(await Promise.all(below)).flat()];
}

const helpByName = new Map(await readHelp());

function findCommand(call: string): string | undefined {
  const [first = '', second = ''] = call.split(' ');
  return [`${first} ${second}`, first].find((name) => helpByName.has(name));
}

const folder = new URL('../../docs/', import.meta.url);
const pages = [
  'README.md',
  'ops/prometheus/alerts.yml',
  ...readdirSync(folder).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];

/** What follows `hotel-review` in a page, if that is a command. */
const calls = pages.flatMap((page) =>
  [...projectFile(page).matchAll(/hotel-review(?:\.js)? ([a-z][^`#|;>\n]*)/g)].flatMap(([, call = '']) => {
    const command = findCommand(call);
    return command === undefined ? [] : [{ page, command, call: call.trim() }];
  }),
);

it('README.md lists every command', () => {
  const table = projectFile('README.md').split('\n## Commands\n')[1]?.split('\n\n')[0] ?? '';
  const listed = [...table.matchAll(/`(?:hotel-review )?([a-z][^`]*)`/g)].flatMap(
    ([, call = '']) => findCommand(call) ?? [],
  );
  expect([...new Set(listed)].sort()).toEqual([...helpByName.keys()].sort());
});

it('The pages call commands in many ways', () => {
  expect(calls.length).toBeGreaterThan(60);
});

it.each(calls)('$page calls a command with options that it has: $call', ({ command, call }) => {
  for (const [option] of call.matchAll(/(?<=\s)--[a-z][a-z0-9-]*/g))
    expect(helpByName.get(command)).toMatch(new RegExp(` ${option}[ ,\\n]`));
});
