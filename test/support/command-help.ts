/** The headings of the program's commands, and of the commands below one. */
const headings = /^(?:Common commands|Looking back|Mappings|Running|Guests' data and access|Commands):\n/;

/** The commands that a help text lists, in its order. */
export function listCommandNames(help: string): string[] {
  const sections = help.split('\n\n').filter((section) => headings.test(section));
  return sections.flatMap((section) => [...section.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name));
}
