import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { type CodeFile, countLevels, readCode, roomOf } from './code.js';
import { traceOneBooking } from './hops.js';
import { measureFolder, measureInstalled } from './packages.js';
import { listLeaves } from './settings.js';

/** How large the project is: `npm run size`, with `-- --json` as one JSON object. */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const megabytes = (bytes: number) => Math.round(bytes / 1e5) / 10;
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

/** A word has a letter or a digit: marks of Markdown are none. */
const countWords = (path: string) => read(path).match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;

const files = readCode(root);
const total = (count: (file: CodeFile) => number) => sum(files.map(count));
const rooms = [...new Set(files.map(({ path }) => roomOf(path)))];
const linesOf = (room: string) => total(({ path, lines }) => (roomOf(path) === room ? lines : 0));
const importers = new Map<string, number>();
for (const path of files.flatMap(({ imports }) => imports))
  importers.set(path, (importers.get(path) ?? 0) + 1);
const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const texts = ['README.md', 'CHANGELOG.md', ...pages.sort().map((name) => `docs/${name}`)];
const words = Object.fromEntries(texts.map((path) => [path, countWords(path)]));
const installed = measureInstalled(root);
const dist = join(root, 'dist');
const hops = await traceOneBooking(root);

const size = {
  linesOfCode: total(({ lines }) => lines),
  files: files.length,
  /** The folders of src, and jobs. */
  rooms: rooms.filter((room) => room !== 'src').length,
  levelsOfImports: countLevels(files),
  types: total(({ types }) => types),
  usesOfPick: total(({ picks }) => picks),
  filesWithOneImporter: files.filter(({ path }) => importers.get(path) === 1).length,
  settings: listLeaves(JSON.parse(read('schema/1.json'))).size,
  words: sum(Object.values(words)),
  dependencies: Object.keys(JSON.parse(read('package.json')).dependencies).length,
  packagesInstalled: installed.packages,
  installedMegabytes: megabytes(installed.bytes),
  /** Null when it is not built. */
  distMegabytes: existsSync(dist) ? megabytes(measureFolder(dist)) : null,
  hopsByBody: hops.body.length,
  hopsByFile: hops.file.length,
};
const linesByRoom = Object.fromEntries(
  rooms.map((room) => [room, linesOf(room)] as const).sort(([, one], [, other]) => other - one),
);

if (argv.includes('--json')) {
  stdout.write(
    `${JSON.stringify({ ...size, linesByRoom, words: { total: size.words, ...words }, hops }, null, 2)}\n`,
  );
} else {
  const listed = (what: string, counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([name, count]) => [`${what} of ${name}`, count] as const);
  const rows = [...Object.entries(size), ...listed('lines', linesByRoom), ...listed('words', words)];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(
    ([name, value]) => `${name.padEnd(width)}  ${(value?.toLocaleString('en') ?? 'not built').padStart(9)}\n`,
  );
  stdout.write(lines.join(''));
}
