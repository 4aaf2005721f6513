import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';

/** A third-party reader of CSV files. */
export interface CsvReader {
  readonly name: string;
  /** What is missing on this machine, and how to install it. */
  readonly needs: string | undefined;
  /** The records of a file, keyed by column name. */
  read(path: string): unknown;
}

const script = `
import csv, json, sys
with open(sys.argv[1], newline='', encoding='utf-8') as file:
    print(json.dumps(list(csv.DictReader(file, strict=True))))
`;

export const pythonCsv: CsvReader = {
  name: "Python's csv module",
  needs:
    spawnSync('python3', ['--version']).status === 0 ? undefined : 'needs python3: apt-get install python3',
  read: (path) => JSON.parse(execFileSync('python3', ['-c', script, path], { encoding: 'utf8' })),
};

export const csvParse: CsvReader = {
  name: 'csv-parse',
  needs: undefined,
  read: (path) => parse(readFileSync(path), { columns: true }),
};
