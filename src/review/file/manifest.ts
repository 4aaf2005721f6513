import type { ArchivedFile } from '../../archive/archive.js';
import { measure } from '../../async/measure.js';
import type { Attempt } from '../../ledger/attempts.js';
import type { ResultCounts, ReviewFile, Run } from '../../ledger/run.js';
import type { FileAttempt, FileParts } from './file-attempt.js';

export const manifestName = 'manifest.json';

/**
 * The content of a manifest: what was sent and when, what came back, and the checksums of all archived files.
 */
export interface Manifest {
  readonly tool: string;
  readonly day: string;
  readonly runId: string;
  readonly remotePath: string | undefined;
  readonly rows: number | undefined;
  readonly counts: {
    readonly read: number;
    readonly accepted: number;
    readonly duplicates: number;
    readonly rejected: number;
  };
  readonly result: { readonly name: string; readonly rows: number; readonly isWhole: boolean } | undefined;
  readonly verdicts: Omit<ResultCounts, 'listsUnanswered'> | undefined;
  readonly calls: readonly ManifestCall[];
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
}

interface ManifestCall {
  readonly startedAt: string;
  readonly endedAt: string;
  readonly outcome: string;
  readonly code: string;
  readonly httpStatus?: number;
  readonly statusCode?: number;
}

/**
 * Archives the manifest. It comes last, so its presence proves that all other files are there. An attempt that is
 * repeated leaves it alone.
 *
 * @param known the files that this attempt has archived, which are not read once more, and those that can't be kept any more
 */
export async function keepManifest(
  parts: FileParts,
  { run, day }: FileAttempt,
  file: Partial<ReviewFile>,
  known: readonly ArchivedFile[] = [],
): Promise<void> {
  const { ledger, archive, tool } = parts;
  const names = await archive.list(day.iso, run.id);
  if (names.includes(manifestName)) return;
  const manifest: Manifest = {
    tool,
    ...describeRun({ ...run, file }),
    calls: describeCalls(await ledger.steps.listAttempts(run.id, 'trigger')),
    files: await Promise.all(
      [...new Set([...names, ...known.map(({ name }) => name)])].sort().map(async (name) => {
        const { bytes, sha256 } =
          known.find((file) => file.name === name) ?? (await measure(archive.read(day.iso, run.id, name)));
        return { name, bytes, sha256 };
      }),
    ),
  };
  await archive.keep(day.iso, run.id, manifestName, toBytes(`${JSON.stringify(manifest, null, 2)}\n`));
}

/** The part that the ledger knows for as long as it keeps the run. */
export function describeRun({ id, day, counts, file }: Run): Omit<Manifest, 'tool' | 'calls' | 'files'> {
  const { read, accepted, duplicates, rejected } = counts;
  const { remotePath, rows, result, verdicts } = file ?? {};
  return {
    day,
    runId: id,
    remotePath,
    rows,
    counts: { read, accepted, duplicates, rejected },
    result: result && { name: result.name, rows: result.rows, isWhole: result.isWhole },
    verdicts: verdicts && toCounts(verdicts),
  };
}

function toCounts({ affected, unanswered, unclear, malformed }: ResultCounts): Manifest['verdicts'] {
  return { affected, unanswered, unclear, malformed };
}

export function describeCalls(attempts: readonly Attempt[]): Manifest['calls'] {
  return attempts.map(({ startedAt, endedAt, outcome, code, httpStatus, statusCode }) => ({
    startedAt: new Date(startedAt).toISOString(),
    endedAt: new Date(endedAt).toISOString(),
    outcome,
    code,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(statusCode !== undefined && { statusCode }),
  }));
}

async function* toBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
