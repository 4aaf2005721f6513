/** Mutants by how they ended, as in Stryker's JSON report. */
export interface MutationReport {
  readonly files: Readonly<Record<string, MutatedFile>>;
}

interface MutatedFile {
  readonly source: string;
  readonly mutants: readonly Mutant[];
}

interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Place; readonly end: Place };
}

/** Both count from 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/** What is kept of a rule file. */
export interface FileRecord {
  /** The share of its mutants that a test found, in percent. */
  readonly score: number;
  readonly mutants: number;
  /** Why a mutant that survives is no gap, by what it changes. */
  readonly explained?: Readonly<Record<string, string>>;
}

export type MutationRecord = Readonly<Record<string, FileRecord>>;

export interface Survivor {
  readonly line: number;
  /** The same wherever the line is. */
  readonly change: string;
  readonly status: string;
}

export interface FileScore {
  readonly score: number;
  readonly mutants: number;
  readonly survivors: readonly Survivor[];
}

/** A mutant that only ran into a time limit was not found by a test. */
export function scoreFile({ source, mutants }: MutatedFile): FileScore {
  const counted = mutants.filter(({ status }) => !/^(?:CompileError|RuntimeError|Ignored)$/.test(status));
  const killed = counted.filter(({ status }) => status === 'Killed').length;
  return {
    score: counted.length === 0 ? 100 : Math.round((killed / counted.length) * 1_000) / 10,
    mutants: counted.length,
    survivors: counted
      .filter(({ status }) => status !== 'Killed')
      .map((mutant) => describeSurvivor(source, mutant)),
  };
}

function describeSurvivor(source: string, { replacement = '', status, location }: Mutant): Survivor {
  const { start, end } = location;
  const written = source.slice(offsetOf(source, start), offsetOf(source, end));
  return { line: start.line, change: `${shorten(written)} => ${shorten(replacement)}`, status };
}

function offsetOf(source: string, { line, column }: Place): number {
  const before = source.split('\n').slice(0, line - 1);
  return before.reduce((sum, text) => sum + text.length + 1, 0) + column - 1;
}

function shorten(code: string): string {
  const inLine = code.replace(/\s+/g, ' ');
  return inLine.length > 70 ? `${inLine.slice(0, 67)}...` : inLine;
}

/** By how many points a score may fall: a changed file has other mutants. */
const tolerated = 1;

/** @returns nothing if the file is as good as its record, or has none */
export function complain(path: string, found: FileScore, known: FileRecord | undefined): readonly string[] {
  if (known === undefined || found.score >= known.score - tolerated) return [];
  const survivors = found.survivors
    .filter(({ change }) => known.explained?.[change] === undefined)
    .map(({ line, change, status }) => `  line ${line}: ${change} (${status})`);
  return [`${path}: ${found.score} instead of ${known.score}. No test found:`, ...survivors];
}

/** The record with what was found now; explanations stay while what they explain is there. */
export function recordScore(
  record: MutationRecord,
  path: string,
  { score, mutants, survivors }: FileScore,
): MutationRecord {
  const changes = new Set(survivors.map(({ change }) => change));
  const explained = Object.entries(record[path]?.explained ?? {}).filter(([change]) => changes.has(change));
  const kept = explained.length > 0 && { explained: Object.fromEntries(explained) };
  return { ...record, [path]: { score, mutants, ...kept } };
}
