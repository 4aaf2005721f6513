import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { posix } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { BrandOfChain } from '../brands.js';
import type { FaultPlan, ResultFault } from '../faults.js';
import type { LetterPost } from '../letter-post.js';
import type { LivingWorld, Snapshot } from '../living-world/living-world.js';
import { nameReason } from '../name-reason.js';
import type { Answer } from '../service/answer.js';
import type { ExportEvent } from './export-event.js';
import { writeExportLetter } from './export-letter.js';
import { createExportTables } from './export-tables.js';
import { type ExportFile, publishExport, writeDrafts } from './publish-export.js';
import { type ExportRequest, readExportRequest } from './read-request.js';

/** The exports of the mappings. (Spec 4.5.) */
export interface Exports {
  /** Answers at once; the files, which hold the world as it is now, and the letter about them come after the delay. */
  take(parameters: URLSearchParams): Answer;
  /** Gives up the exports that are due later, and waits for what is being written. Idempotent. */
  close(): Promise<void>;
}

export interface ExportsOptions {
  readonly world: LivingWorld;
  readonly brands: readonly BrandOfChain[];
  /** The SFTP root on this disk. */
  readonly root: string;
  /** The folder below it, without a leading slash; empty for the root itself. */
  readonly folder: string;
  /** A folder that no client of the SFTP server sees, on the root's disk; made when it is needed, removed by `close`. */
  readonly drafts: string;
  /** What the files' names begin with. */
  readonly accountName: string;
  readonly masterIdName: string;
  readonly delayMs: number;
  /** Asked once for every export that was taken. */
  readonly faults: Pick<FaultPlan, 'nextResult'>;
  readonly letters: LetterPost;
  readonly onEvent: (event: ExportEvent) => void;
}

interface TakenExport {
  readonly request: ExportRequest;
  readonly snapshot: Snapshot;
  readonly fault: ResultFault | undefined;
  readonly names: { readonly mappings: string; readonly transformed: string; readonly hotels: string };
}

export function createExports(options: ExportsOptions): Exports {
  const { world, root, folder, drafts, accountName, delayMs, faults, letters, onEvent } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const due = new Set<Promise<void>>();

  function nameFile(kind: string, guid: string): string {
    return posix.join(folder, `${accountName}_${kind}_${guid}.csv`);
  }

  async function perform({ request, snapshot, fault, names }: TakenExport): Promise<void> {
    const files = Object.values(names);
    try {
      const lateMs = fault?.kind === 'result-late' ? fault.seconds * 1_000 : 0;
      await wait(delayMs + lateMs, undefined, { signal });
      if (fault?.kind === 'result-missing') return onEvent({ kind: 'export-missing', files });
      const { providers } = request;
      const tables = createExportTables({ ...options, snapshot, providers });
      const drafted: ExportFile[] = await writeDrafts({ tables, names, root, drafts, signal });
      await publishExport(drafted, fault, signal);
      const kind = fault?.kind === 'result-partial' ? 'export-partial' : 'export-written';
      onEvent({ kind, files, ...(await notify(request, files)) });
    } catch (error) {
      if (signal.aborted) onEvent({ kind: 'export-given-up', files });
      else onEvent({ kind: 'export-failed', files, reason: nameReason(error) });
    }
  }

  async function notify(
    { emailId, providers }: ExportRequest,
    files: readonly string[],
  ): Promise<{ readonly letter?: string }> {
    try {
      return { letter: await letters.post(writeExportLetter(emailId, providers, files)) };
    } catch (error) {
      onEvent({ kind: 'export-letter-failed', files, reason: nameReason(error) });
      return {};
    }
  }

  return {
    take(parameters) {
      const request = readExportRequest(parameters, world.providers);
      if (request.kind === 'refusal') return request;
      const guid = randomUUID();
      const names = {
        mappings: nameFile('mappings', guid),
        transformed: nameFile('transformed', guid),
        hotels: nameFile('hotels', guid),
      };
      const taken = { request, snapshot: world.takeSnapshot(), fault: faults.nextResult(), names };
      const performed = perform(taken).finally(() => due.delete(performed));
      due.add(performed);
      return { kind: 'success', message: 'The mappings are being exported.' };
    },
    async close() {
      closing.abort();
      await Promise.all(due);
      await rm(drafts, { recursive: true, force: true });
    },
  };
}
