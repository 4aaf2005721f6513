import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The code of each file of the program, without its comments. */
const files = ['src', 'jobs'].flatMap((top) =>
  readdirSync(join(root, top), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const code = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g, '');
      return { name: relative(root, path), code };
    }),
);
const findFiles = (pattern: RegExp) =>
  files.flatMap(({ name, code }) => (pattern.test(code) ? [name] : [])).sort();

/** Folders that write bytes only: to files, connections and fields. What is in none of them is near people. */
const byteFolders = ['ledger', 'sandbox', 'storage', 'transports'];

describe('text for people', () => {
  it('is written to a stream in one place, `print`', () => {
    const writers = findFiles(/\.write\(|\bwriteSync\(/);
    const ofBytes = byteFolders.map((folder) => writers.filter((name) => name.startsWith(`src/${folder}/`)));
    expect(byteFolders.filter((_, at) => ofBytes[at]?.length === 0)).toEqual([]);
    expect(writers.filter((name) => !ofBytes.flat().includes(name))).toEqual([
      // Hands objects to `Reports`, which prints them.
      'jobs/terminal.ts',
      // `print`.
      'src/base/foreign-text.ts',
      // An archive.
      // Lines and items into buffers.
      'src/booking/item-line.ts',
      'src/booking/render-line.ts',
      // Keys into buffers, and files of the spool.
      'src/review/collect/line-index.ts',
      'src/review/file/file-attempt.ts',
    ]);
    // In the script of a child process, whose output doctor reads.
    expect(findFiles(/\bconsole\./)).toEqual(['src/checks/doctor/file-systems.ts']);
  });

  it('reaches the streams of the process only through what a command is given', () => {
    expect(findFiles(/\bprocess\.std(?:out|err)|\bstd(?:out|err)\b[^;]*= process\b|node:tty/)).toEqual([
      'jobs/process.ts',
      'jobs/processes/reading-thread.ts',
    ]);
  });

  it.each([
    // Each draws on a terminal, or writes lines, by itself.
    ['pino', 'src/notify/events.ts'],
  ])('passes the edge in %s too', (library, file) => {
    expect(findFiles(new RegExp(`(?:import (?!type)[^;]*from|import\\() ?'${library}'`))).toEqual([file]);
  });
});

describe('CSV for people', () => {
  it('is written in one place; the stand-in for the service writes files for programs', () => {
    const writers = findFiles(/'csv-stringify|\bunparse\(/);
    expect(writers.filter((name) => !name.startsWith('src/sandbox/'))).toEqual(['src/base/csv-cells.ts']);
    const { code = '' } = files.find(({ name }) => name === 'src/base/csv-cells.ts') ?? {};
    expect(code.match(/\bstringify\(/g)).toHaveLength(1);
  });
});
