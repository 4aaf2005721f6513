import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { describeStructure, readCode } from './code.js';
import { traceOneBooking } from './hops.js';
import { measureFolder, measureInstalled } from './packages.js';
import { listLeaves } from './settings.js';

/** How large the project is: `npm run size`, with `-- --json` as one JSON object. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** A word has a letter or a digit: marks of Markdown are none. */
function countWords(path: string): number {
  return read(path).match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;
}

const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const texts = ['README.md', 'CHANGELOG.md', ...pages.sort().map((name) => `docs/${name}`)];
const words = Object.fromEntries(texts.map((path) => [path, countWords(path)]));
const { linesByRoom, ...structure } = describeStructure(readCode(root));
const { packages, bytes } = measureInstalled(root);
const dist = join(root, 'dist');
const hops = await traceOneBooking(root);

const size = {
  ...structure,
  settings: listLeaves(JSON.parse(read('hotel-review.schema.json'))).size,
  words: Object.values(words).reduce((total, count) => total + count, 0),
  dependencies: Object.keys(JSON.parse(read('package.json')).dependencies).length,
  packages,
  installedBytes: bytes,
  /** Null when it is not built. */
  distBytes: existsSync(dist) ? measureFolder(dist) : null,
  hopsByBody: hops.body.length,
  hopsByFile: hops.file.length,
};

const names: Readonly<Record<keyof typeof size, string>> = {
  files: 'files of src and jobs (TypeScript, JavaScript, CSS)',
  lines: 'lines of code in them',
  rooms: 'rooms (folders of src, and jobs)',
  levels: 'levels of imports between rooms',
  types: 'types (interfaces and aliases)',
  picks: 'uses of Pick',
  filesWithOneImporter: 'files with one importer',
  settings: 'settings',
  words: 'words of documentation',
  dependencies: 'dependencies at run time',
  packages: 'packages installed for production',
  installedBytes: 'their size, MB',
  distBytes: 'size of dist, MB',
  hopsByBody: 'hops of one booking by body (files called)',
  hopsByFile: 'hops of one booking by file (files called)',
};

function show(name: string, value: number | null): string {
  if (value === null) return 'not built';
  return name.endsWith('Bytes') ? (value / 1e6).toFixed(1) : value.toLocaleString('en');
}

function renderTable(title: string, rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  const breadth = Math.max(...rows.map(([, value]) => value.length));
  return [
    title,
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value.padStart(breadth)}`),
    '',
  ].join('\n');
}

function renderCounts(title: string, counts: Readonly<Record<string, number>>): string {
  return renderTable(
    title,
    Object.entries(counts).map(([name, count]) => [name, show(name, count)]),
  );
}

if (argv.includes('--json')) {
  stdout.write(
    `${JSON.stringify({ ...size, linesByRoom, wordsByFile: words, filesCalled: hops }, null, 2)}\n`,
  );
} else {
  const rows = Object.entries(size).map(
    ([name, value]) => [names[name as keyof typeof size], show(name, value)] as const,
  );
  const tables = [
    renderTable('Size', rows),
    renderCounts('Lines of code by room', linesByRoom),
    renderCounts('Words by file', words),
  ];
  stdout.write(`${tables.join('\n')}`);
}
