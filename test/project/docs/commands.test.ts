import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readCommands, renderCommandList } from '../../../docs/command-list.js';
import { renderCommandWords } from '../../../docs/command-words.js';
import { listCommandNames } from '../../support/command-help.js';
import { captureIo } from '../../support/command-io.js';
import { projectFile } from '../../support/compose-file.js';

const builtMain = new URL('../../../dist/jobs/main.js', import.meta.url).href;
const { main } = (await import(builtMain)) as typeof import('../../../jobs/main.js');

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

it('The list of commands and of their words is the one that their files give; `npm run docs` writes it', async () => {
  const list = readFileSync(new URL('../../../jobs/command-list.ts', import.meta.url), 'utf8');
  const commands = await readCommands();
  expect(list).toBe(renderCommandList(commands));
  expect(projectFile('jobs/command-words.json')).toBe(renderCommandWords(commands));
});

const folder = new URL('../../../docs/', import.meta.url);
const pages = [...readdirSync(folder).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))];

const theTen = ['init', 'doctor', 'run', 'replay', 'status', 'show', 'affected', 'cases', 'serve', 'sandbox'];
const hasCode = (page: string, command: string) =>
  new RegExp(`(?:\`|hotel-review )${command}(?![a-z-])`).test(page);

it('README.md names the ten commands that the help lists first, and some page of docs names every command', async () => {
  expect(listCommandNames(await helpOf([])).slice(0, 10)).toEqual(theTen);
  for (const command of theTen)
    expect(projectFile('README.md')).toSatisfy((page: string) => hasCode(page, command));
  const docs = pages.filter((page) => page.startsWith('docs/')).map(projectFile);
  expect([...helpByName.keys()].filter((command) => !docs.some((page) => hasCode(page, command)))).toEqual(
    [],
  );
});
