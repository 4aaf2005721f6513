import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { Happening } from './outside.js';
import { day, runId } from './process.js';

/** What became of a day, without what a death may change: how often something was tried, and when. */
export interface Outcome {
  readonly runs: readonly unknown[];
  readonly bookings: readonly unknown[];
  readonly refused: readonly string[];
  readonly rejected: readonly unknown[];
  readonly cases: readonly unknown[];
  readonly canary: unknown;
  /** The content of each file by its name. */
  readonly archive: Readonly<Record<string, string>>;
  readonly spool: readonly string[];
  readonly server: Readonly<Record<string, string>>;
  /** What people were told, each message once. */
  readonly told: readonly string[];
}

export interface OutcomeSources {
  readonly ledger: Ledger;
  readonly log: readonly Happening[];
  readonly folder: string;
  readonly references: readonly string[];
  readonly server: Outcome['server'];
}

export async function readOutcome({
  ledger,
  log,
  folder,
  references,
  server,
}: OutcomeSources): Promise<Outcome> {
  const runs = await ledger.runs.list({ day: day.iso, limit: 10 });
  const messages = new Map(log.flatMap((one) => (one.kind === 'message' ? [[one.id, one.says]] : [])));
  const spool = join(folder, 'spool');
  return {
    runs: runs.map(({ id, state, delivery, failure, counts: { repeated: _, ...counts }, file }) => ({
      ...{ id, state, delivery, failure, counts },
      file: file && {
        ...{ rows: file.rows, bytes: file.bytes, sha256: file.sha256, remotePath: file.remotePath },
        ...{ verdicts: file.verdicts, setAside: file.setAside, laterResults: file.laterResults },
        result: file.result && { name: file.result.name, sha256: file.result.sha256, rows: file.result.rows },
      },
    })),
    bookings: await Promise.all(references.map((reference) => readTraces(ledger, reference))),
    refused: (await ledger.bookings.listRefused(runId, 100)).map(
      ({ step, code, line }) => `${step} ${code} ${line}`,
    ),
    rejected: await ledger.rejects.list(runId, 100),
    cases: (await ledger.cases.list({ today: day.iso, state: 'all' })).map(
      ({ id, providerName, providerHotelId, serviceId, state, origins, bookings, openBookings }) => ({
        ...{ id, providerName, providerHotelId, serviceId },
        ...{ state, origins, bookings, openBookings },
      }),
    ),
    canary: await readCanary(ledger),
    archive: readArchive(join(folder, 'archive', day.iso, runId)),
    spool: existsSync(spool) ? readdirSync(spool) : [],
    server,
    told: [...messages.values()].sort(),
  };
}

async function readTraces(ledger: Ledger, reference: string): Promise<unknown> {
  const traces = await ledger.bookings.trace(reference);
  return traces.map((trace) => {
    if (trace.kind === 'reject') return { reference, rejected: trace.reason };
    const { run, stream, batch, position, step, judged } = trace;
    return { reference, run: run.id, stream, batch, position, step, judged };
  });
}

async function readCanary(ledger: Ledger): Promise<unknown> {
  const canary = await ledger.canaries.find(runId);
  if (!canary) return undefined;
  const { reference, sentAt, reportedAt } = canary;
  return { reference, isSent: sentAt !== undefined, isReported: reportedAt !== undefined };
}

function readArchive(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  // Without the mark of the account.
  const names = readdirSync(folder)
    .filter((name) => !name.startsWith('.account-'))
    .sort();
  return Object.fromEntries(names.map((name) => [name, readArchived(join(folder, name))]));
}

/** The manifest names every call with its time; a call that was made again is no other outcome. */
function readArchived(path: string): string {
  const text = readFileSync(path, 'utf8');
  if (!path.endsWith('manifest.json')) return text;
  const { calls: _, ...manifest } = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify(manifest);
}
