import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseSync } from 'rolldown/utils';

/** A file of the program, and what is counted in it. */
export interface CodeFile {
  /** From the project's folder. */
  readonly path: string;
  /** The folder of `src` it is in, or `jobs`. */
  readonly room: string;
  readonly lines: number;
  /** Interfaces and type aliases. */
  readonly types: number;
  readonly picks: number;
  /** The files that it imports, types included. */
  readonly imports: readonly string[];
}

const entryPoint = 'the library';

/** All TypeScript, JavaScript and CSS of `src` and `jobs`. */
export function readCode(root: string): readonly CodeFile[] {
  return ['src', 'jobs'].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|js|css)$/.test(name))
      .map((name) => {
        const path = posix.join(top, name.replaceAll('\\', '/'));
        return countCode(path, readFileSync(join(root, path), 'utf8'));
      }),
  );
}

/** Lines are counted without comments, and without what is blank then. */
export function countCode(path: string, text: string): CodeFile {
  const file = { path, room: roomOf(path) };
  if (path.endsWith('.css')) {
    const comments = [...text.matchAll(/\/\*[\s\S]*?\*\//g)];
    const places = comments.map(({ index, 0: { length } }) => ({ start: index, end: index + length }));
    return { ...file, lines: countLines(text, places), types: 0, picks: 0, imports: [] };
  }
  const { program, comments, errors } = parseSync(path, text);
  if (errors[0]) throw new Error(`${path} can't be read: ${errors[0].message}`);
  const counts = { types: 0, picks: 0 };
  const imports = new Set<string>();
  visit(program, (node) => {
    if (node.type === 'TSInterfaceDeclaration' || node.type === 'TSTypeAliasDeclaration') counts.types += 1;
    if (node.typeArguments && nameOf(node.typeName ?? node.expression) === 'Pick') counts.picks += 1;
    const target = node.source?.value;
    if (typeof target === 'string' && target.startsWith('.'))
      imports.add(posix.join(posix.dirname(path), target).replace(/\.js$/, '.ts'));
  });
  return { ...file, lines: countLines(text, comments), ...counts, imports: [...imports] };
}

interface Place {
  readonly start: number;
  readonly end: number;
}

function countLines(text: string, comments: readonly Place[]): number {
  let code = '';
  let from = 0;
  for (const { start, end } of comments) {
    code += text.slice(from, start) + text.slice(start, end).replace(/[^\n]/g, '');
    from = end;
  }
  return `${code}${text.slice(from)}`.split('\n').filter((line) => line.trim() !== '').length;
}

/** What is looked at of a node of any kind. */
interface SyntaxNode {
  readonly type?: string;
  readonly source?: { readonly value?: unknown } | null;
  readonly typeArguments?: unknown;
  readonly typeName?: { readonly name?: string };
  readonly expression?: { readonly name?: string };
}

function nameOf(node: { readonly name?: string } | undefined): string | undefined {
  return node?.name;
}

function visit(node: unknown, look: (node: SyntaxNode) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) look(node);
  for (const part of Object.values(node)) visit(part, look);
}

function roomOf(path: string): string {
  const [top = '', folder = '', ...rest] = path.split('/');
  if (top === 'jobs') return top;
  return rest.length > 0 ? folder : entryPoint;
}

export interface Structure {
  readonly files: number;
  readonly lines: number;
  readonly rooms: number;
  /** The longest chain of rooms of which each imports the next. */
  readonly levels: number;
  readonly types: number;
  readonly picks: number;
  readonly filesWithOneImporter: number;
  readonly linesByRoom: Readonly<Record<string, number>>;
}

export function describeStructure(files: readonly CodeFile[]): Structure {
  const sum = (count: (file: CodeFile) => number) => files.reduce((total, file) => total + count(file), 0);
  const rooms = [...new Set(files.map(({ room }) => room))].sort();
  const linesOf = (room: string) => sum((file) => (file.room === room ? file.lines : 0));
  const importers = new Map<string, number>();
  for (const path of files.flatMap(({ imports }) => imports))
    importers.set(path, (importers.get(path) ?? 0) + 1);
  return {
    files: files.length,
    lines: sum(({ lines }) => lines),
    rooms: rooms.filter((room) => room !== entryPoint).length,
    levels: countLevels(files),
    types: sum(({ types }) => types),
    picks: sum(({ picks }) => picks),
    filesWithOneImporter: files.filter(({ path }) => importers.get(path) === 1).length,
    linesByRoom: Object.fromEntries(
      rooms.map((room) => [room, linesOf(room)] as const).sort(([, one], [, other]) => other - one),
    ),
  };
}

function countLevels(files: readonly CodeFile[]): number {
  const edges = new Map<string, Set<string>>();
  for (const { room, imports } of files) {
    const targets = edges.get(room) ?? new Set();
    for (const path of imports) if (roomOf(path) !== room) targets.add(roomOf(path));
    edges.set(room, targets);
  }
  const known = new Map<string, number>();
  const levelOf = (room: string): number => {
    const level = known.get(room) ?? 1 + Math.max(0, ...[...(edges.get(room) ?? [])].map(levelOf));
    known.set(room, level);
    return level;
  };
  return Math.max(...[...edges.keys()].map(levelOf));
}
