import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseSync } from 'rolldown/utils';

/** A file of the program, and what is counted in it. */
export interface CodeFile {
  /** From the project's folder. */
  readonly path: string;
  readonly lines: number;
  /** Interfaces and type aliases. */
  readonly types: number;
  readonly picks: number;
  /** The files that it imports, types included. */
  readonly imports: readonly string[];
}

/** All TypeScript, JavaScript and CSS of `src` and `jobs`. */
export function readCode(root: string): readonly CodeFile[] {
  return ['src', 'jobs'].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|js|css)$/.test(name))
      .map((name) => posix.join(top, name))
      .map((path) => countCode(path, readFileSync(join(root, path), 'utf8'))),
  );
}

/** Lines are counted without comments, and without what is blank then. */
export function countCode(path: string, text: string): CodeFile {
  const counts = { types: 0, picks: 0 };
  if (path.endsWith('.css'))
    return { path, ...counts, lines: countLines(text.replace(/\/\*[\s\S]*?\*\//g, blank)), imports: [] };
  const { program, comments, errors } = parseSync(path, text);
  if (errors[0]) throw new Error(`${path} can't be read: ${errors[0].message}`);
  const imports = new Set<string>();
  visit(program, ({ type, source, typeName, expression, typeArguments }) => {
    if (type === 'TSInterfaceDeclaration' || type === 'TSTypeAliasDeclaration') counts.types += 1;
    if (typeArguments && (typeName ?? expression)?.name === 'Pick') counts.picks += 1;
    if (typeof source?.value === 'string' && source.value.startsWith('.'))
      imports.add(posix.join(posix.dirname(path), source.value).replace(/\.js$/, '.ts'));
  });
  const code = comments.reduce(
    (left, { start, end }) => left.slice(0, start) + blank(left.slice(start, end)) + left.slice(end),
    text,
  );
  return { path, ...counts, lines: countLines(code), imports: [...imports] };
}

function blank(comment: string): string {
  return comment.replace(/[^\n]/g, ' ');
}

function countLines(code: string): number {
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

/** What is looked at of a node of any kind. */
interface SyntaxNode {
  readonly type?: string;
  readonly source?: { readonly value?: unknown } | null;
  readonly typeArguments?: unknown;
  readonly typeName?: { readonly name?: string };
  readonly expression?: { readonly name?: string };
}

function visit(node: unknown, look: (node: SyntaxNode) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) look(node);
  for (const part of Object.values(node)) visit(part, look);
}

/** The folder of `src` that a file is in, or `jobs`; the library's entry point is above all folders. */
export function roomOf(path: string): string {
  const [top = '', folder = '', ...rest] = path.split('/');
  return top === 'jobs' || rest.length === 0 ? top : folder;
}

/** The longest chain of rooms of which each imports the next. */
export function countLevels(files: readonly CodeFile[]): number {
  const edges = new Map<string, Set<string>>();
  for (const { path, imports } of files)
    edges.set(roomOf(path), new Set([...(edges.get(roomOf(path)) ?? []), ...imports.map(roomOf)]));
  const known = new Map<string, number>();
  const levelOf = (room: string): number => {
    const below = [...(edges.get(room) ?? [])].filter((other) => other !== room);
    const level = known.get(room) ?? 1 + Math.max(0, ...below.map(levelOf));
    known.set(room, level);
    return level;
  };
  return Math.max(...[...edges.keys()].map(levelOf));
}
