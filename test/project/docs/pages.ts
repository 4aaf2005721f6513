import { readdirSync } from 'node:fs';
import { projectFile } from '../../support/compose-file.js';

/** README.md and the pages of docs, by their paths. */
export const pages: readonly string[] = [
  'README.md',
  ...readdirSync(new URL('../../../docs/', import.meta.url)).flatMap((name) =>
    name.endsWith('.md') ? [`docs/${name}`] : [],
  ),
];

/** A fenced block of a page. */
export interface Block {
  /** The page and its line, such as `docs/desk.md:12`. */
  readonly place: string;
  readonly language: string;
  readonly text: string;
}

export function readBlocks(page: string): readonly Block[] {
  const text = projectFile(page);
  return [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = '', language = '', content = ''], index, all) => ({
      place: `${page}:${text.slice(0, all[index]?.index).split('\n').length}`,
      language,
      text: content.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

export const isShell = (language: string): boolean => ['sh', 'crontab'].includes(language);

/** The lines of a block for a shell, and none of others: comments and empty lines are left out, continued lines are joined. */
export function readLines({ language, text }: Block): readonly string[] {
  if (!isShell(language)) return [];
  return text
    .replaceAll(/ *\\\n */g, ' ')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s{2,})#.*$/, '').trim())
    .filter((line) => line !== '');
}

/** What follows `hotel-review` where a line calls it, up to a pipe or a redirection. */
export function findCall(line: string): string | undefined {
  const [, call] =
    /^(?:npx --no )?hotel-review (.+)/.exec(line) ??
    /(?:\/\.bin\/hotel-review|hotel-review\.js) (.+)/.exec(line) ??
    /^docker compose run --rm (?:--\S+ |-T )*(?:serve|sandbox) (.+)/.exec(line) ??
    [];
  return call?.split(/\s(?:2?>>?|<|\||\|\||&&)\s?/)[0];
}

/** The anchor that GitHub makes of a heading. */
export const toAnchor = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

export function listAnchors(page: string): readonly string[] {
  return [...withoutBlocks(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => toAnchor(title));
}

/** The targets of a page's links that lead to files or headings of the project. */
export function listLinks(page: string): readonly string[] {
  return [...withoutBlocks(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
}

export const withoutBlocks = (page: string): string =>
  projectFile(page).replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
