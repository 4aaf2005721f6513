import { readdirSync } from 'node:fs';
import { type AnyCommand, headings, usageOf } from '../jobs/command.js';

type Named = AnyCommand & { readonly name: string; readonly place: NonNullable<AnyCommand['place']> };

/** The commands by the files of jobs/commands, in the order of the help. */
export async function readCommands(): Promise<readonly Named[]> {
  const folder = new URL('../jobs/commands/', import.meta.url);
  const names = readdirSync(folder).map((file) => file.replace(/\.ts$/, ''));
  const found = await Promise.all(
    names.map(async (name): Promise<Named> => {
      const { default: declared } = (await import(new URL(`${name}.ts`, folder).href)) as {
        default: AnyCommand;
      };
      if (!declared.place) throw new Error(`jobs/commands/${name}.ts: expected a place in the help`);
      return { ...declared, name, place: declared.place };
    }),
  );
  const inOrder = Object.keys(headings);
  const rank = ({ place: [heading, position] }: Named) => inOrder.indexOf(heading) * 1_000 + position;
  return found.sort((one, other) => rank(one) - rank(other));
}

/** jobs/command-list.ts, with which `--help` lists the commands and loads none. */
export function renderCommandList(commands: readonly Named[]): string {
  const entries = commands.map(
    (declared) => `  {
    name: '${declared.name}',
    heading: '${declared.place[0]}',
    usage: '${usageOf(declared)}',
    summary: ${quote(declared.summary)},
    load: () => import('./commands/${declared.name}.js'),
  },
`,
  );
  return `import type { ListedCommand } from './command.js';

/** Written by \`npm run docs\` from the files of jobs/commands. */
export const commandList: readonly ListedCommand[] = [
${entries.join('')}];
`;
}

function quote(text: string): string {
  return text.includes("'") ? JSON.stringify(text) : `'${text}'`;
}
