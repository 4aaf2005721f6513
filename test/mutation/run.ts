import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, env, stdout } from 'node:process';
import { usualSeed } from '../support/seed.js';
import { rules } from './rules.js';
import {
  complain,
  type FileScore,
  type MutationRecord,
  type MutationReport,
  recordScore,
  scoreFile,
} from './score.js';

/**
 * `npm run mutation`: changes each rule in small ways and looks whether a test fails. It fails if a file's score is more than a
 * point below its record in `test/mutation.json`. `-- FILE …` takes only these, `--record` writes the record.
 */
const recordFile = 'test/mutation.json';
const words = argv.slice(2);
const named = words.filter((word) => !word.startsWith('--'));
let record: MutationRecord = JSON.parse(readFileSync(recordFile, 'utf8'));
const complaints: string[] = [];

const isRecording = words.includes('--record');
for (const [path, found] of mutate(named.length > 0 ? named : Object.keys(rules))) {
  show(path, found);
  complaints.push(...complain(path, found, record[path]));
  if (isRecording) record = recordScore(record, path, found);
}
if (isRecording) writeFileSync(recordFile, `${JSON.stringify(record, null, 2)}\n`);
if (complaints.length > 0 && !isRecording) {
  stdout.write(`\nThe tests hold less than they did:\n${complaints.join('\n')}\n`);
  process.exitCode = 1;
}

function mutate(paths: readonly string[]): [path: string, found: FileScore][] {
  const folder = mkdtempSync(join(tmpdir(), 'hotel-review-mutation-'));
  try {
    const report = join(folder, 'report.json');
    const tests = Object.fromEntries(paths.map((path) => [path, rules[path] ?? []]));
    const command = ['stryker', 'run', 'test/mutation/stryker.config.js', '--mutate', paths.join(',')];
    const { status } = spawnSync('npx', command, {
      stdio: 'inherit',
      env: {
        ...env,
        MUTATION_FOLDER: folder,
        MUTATION_REPORT: report,
        MUTATION_SEED: String(usualSeed),
        MUTATION_TESTS: JSON.stringify(tests),
      },
    });
    if (status !== 0) throw new Error(`Stryker ended with ${status}`);
    const { files }: MutationReport = JSON.parse(readFileSync(report, 'utf8'));
    return paths.map((path) => {
      const file = files[path];
      if (!file) throw new Error(`Stryker's report does not name ${path}`);
      return [path, scoreFile(file)];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function show(path: string, { score, mutants, survivors }: FileScore): void {
  stdout.write(`${path}: ${score} % of ${mutants} mutants\n`);
  for (const { line, change, status } of survivors) {
    const why = record[path]?.explained?.[change];
    stdout.write(`  line ${line}: ${change} (${status}${why === undefined ? '' : `: ${why}`})\n`);
  }
}
