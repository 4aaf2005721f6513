import { readdirSync } from 'node:fs';
import { type AnyCommand, headings, usageOf } from '../jobs/command.js';

type Placed = AnyCommand & { readonly name: string; readonly place: NonNullable<AnyCommand['place']> };

/** The commands by the files of jobs/commands, by their places below their headings. */
export async function readCommands(): Promise<readonly Placed[]> {
  const folder = new URL('../jobs/commands/', import.meta.url);
  const names = readdirSync(folder).map((file) => file.replace(/\.ts$/, ''));
  const found = await Promise.all(
    names.map(async (name): Promise<Placed> => {
      const { default: declared } = (await import(new URL(`${name}.ts`, folder).href)) as {
        default: AnyCommand;
      };
      if (!declared.place) throw new Error(`jobs/commands/${name}.ts: expected a place in the help`);
      return { ...declared, name, place: declared.place };
    }),
  );
  return found.sort((one, other) => one.place[1] - other.place[1]);
}

/** jobs/command-list.ts, with which `--help` lists the commands and loads none. */
export function renderCommandList(commands: readonly Placed[]): string {
  const groups = Object.entries(headings).map(([heading, title]) => {
    const below = commands.filter(({ place }) => place[0] === heading);
    const lines = below.map((declared) => {
      const usage = `${declared.name} ${usageOf(declared)}`.trim();
      return renderProperty(usage, declared.summary);
    });
    return { below, text: `  ${quote(title)}: {\n${lines.join('')}  },\n` };
  });
  const files = groups.flatMap(({ below }) =>
    below.map(({ name }) => `  ${name}: () => import('./commands/${name}.js'),\n`),
  );
  return `import type { AnyCommand } from './command.js';

/** What the help lists below its headings: each command, what it takes, and what it does. Written by \`npm run docs\`. */
export const listed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
${groups.map(({ text }) => text).join('')}};

/** The file of each, which is loaded only when the command is named. */
export const files: Readonly<Record<string, () => Promise<{ readonly default: AnyCommand }>>> = {
${files.join('')}};
`;
}

/** As the formatter would write it. */
function renderProperty(name: string, value: string): string {
  const key = `    ${/^\w+$/.test(name) ? name : quote(name)}:`;
  const line = `${key} ${quote(value)},\n`;
  return line.length > 111 ? `${key}\n      ${quote(value)},\n` : line;
}

function quote(text: string): string {
  return text.includes("'") ? JSON.stringify(text) : `'${text}'`;
}
