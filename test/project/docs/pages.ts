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

/** The anchors that GitHub makes of a page's headings. */
export function listAnchors(page: string): readonly string[] {
  return [...withoutBlocks(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );
}

/** The targets of a page's links that lead to files or headings of the project. */
export function listLinks(page: string): readonly string[] {
  return [...withoutBlocks(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
}

const withoutBlocks = (page: string): string => projectFile(page).replaceAll(/^```[\s\S]*?^```$/gm, '');
