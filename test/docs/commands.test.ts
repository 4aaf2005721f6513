import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { files, listed } from '../../jobs/command-list.js';
import { listCommandNames } from '../support/command-help.js';
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
  const below = listCommandNames(help).map((name) => readHelp([...words, name]));
  const isGroup =
    words.length === 0 ||
    ['mappings', 'hotels', 'export', 'guest', 'notify', 'user'].includes(words.join(' '));
  const own: [string, string][] = isGroup ? [] : [[words.join(' '), help]];
  return [...own, ...(await Promise.all(below)).flat()];
}

const helpByName = new Map(await readHelp());

function findCommand(call: string): string | undefined {
  const [first = '', second = ''] = call.split(' ');
  return [`${first} ${second}`, first].find((name) => helpByName.has(name));
}

it('The help lists every command, with what it takes', async () => {
  const inFolder = readdirSync(new URL('../../jobs/commands/', import.meta.url));
  const usages = Object.values(listed).flatMap((commands) => Object.keys(commands));
  const names = usages.map((usage) => usage.split(' ')[0] ?? '');
  expect(names).toEqual(Object.keys(files));
  expect(names.map((name) => `${name}.ts`).sort()).toEqual(inFolder.sort());
  for (const [index, name] of names.entries()) {
    const [first] = (await helpOf([name])).split('\n');
    expect(first).toBe(`Usage: hotel-review ${usages[index]?.replace(name, `${name} [options]`)}`);
  }
});

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

const theTen = ['init', 'doctor', 'run', 'replay', 'status', 'show', 'affected', 'cases', 'serve', 'sandbox'];
const hasCode = (page: string, command: string) =>
  new RegExp(`(?:\`|hotel-review )${command}(?![a-z-])`).test(page);

it('README.md names the ten commands that the help lists first', async () => {
  expect(listCommandNames(await helpOf([])).slice(0, 10)).toEqual(theTen);
  for (const command of theTen)
    expect(projectFile('README.md')).toSatisfy((page: string) => hasCode(page, command));
});

it('some page of docs names every command', () => {
  const docs = pages.filter((page) => page.startsWith('docs/')).map(projectFile);
  const unnamed = [...helpByName.keys()].filter((command) => !docs.some((page) => hasCode(page, command)));
  expect(unnamed).toEqual([]);
});

it('The pages call commands in many ways', () => {
  expect(calls.length).toBeGreaterThan(60);
});

it.each(calls)('$page calls a command with options that it has: $call', ({ command, call }) => {
  for (const [option] of call.matchAll(/(?<=\s)--[a-z][a-z0-9-]*/g))
    expect(helpByName.get(command)).toMatch(new RegExp(` ${option}[ ,\\n]`));
});
