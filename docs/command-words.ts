import type { Option } from 'commander';
import { type AnyCommand, globalOptions, relativeDays, usageOf } from '../jobs/command.js';
import type { OptionWords, Place } from '../jobs/commands/completion.js';
import type { readCommands } from './command-list.js';

const namesFile = /[<[](?:file|folder|path|dir)\b/;
const help: OptionWords = { flags: ['--help', '-h'], meaning: 'display help', value: null, takesFile: false };
const version = { ...help, flags: ['--version', '-V'], meaning: 'output the version number' };
/** What every command takes is listed with the program only. */
const globals = [...Object.values(globalOptions).map(({ option }) => toWords(option)), help];

/** jobs/command-words.json, from which `completion` makes its scripts. */
export function renderCommandWords(commands: Awaited<ReturnType<typeof readCommands>>): string {
  const words = commands.map(({ name, summary }) => [name, summary] as const);
  const program = { path: '', words, options: [...globals, version], takesFiles: false };
  const places = [program, ...commands.flatMap((declared) => listPlaces(declared.name, declared))];
  return `[\n${places.map((place) => JSON.stringify(place)).join(',\n')}\n]\n`;
}

/** A command and those below it. */
function listPlaces(path: string, declared: AnyCommand): Place[] {
  const { commands = {}, options = {}, day } = declared;
  const days = day ? relativeDays : [];
  const dayOption: OptionWords = { ...help, flags: ['--day'], meaning: 'a business day', value: days };
  const own = Object.values(options).map(({ option, isDay = false }) =>
    isDay ? { ...toWords(option), value: relativeDays } : toWords(option),
  );
  return [
    {
      path,
      words: [
        ...Object.entries(commands).map(([name, { summary }]) => [name, summary] as const),
        ...days.map((word) => [word, 'a business day'] as const),
      ],
      options: [...(day ? [dayOption] : []), ...own],
      takesFiles: namesFile.test(usageOf(declared)),
    },
    ...Object.entries(commands).flatMap(([name, below]) => listPlaces(`${path} ${name}`, below)),
  ];
}

function toWords({ flags, long, short, description: meaning, argChoices = [] }: Option): OptionWords {
  return {
    flags: [short, long].filter((name) => typeof name === 'string'),
    meaning,
    value: /[<[]/.test(flags) ? argChoices : null,
    takesFile: namesFile.test(flags),
  };
}
