import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { posix } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, type Refusal, refusal } from '../common/answer.js';
import { nameReason } from '../common/errors.js';
import type { FaultPlan, ResultFault } from '../common/faults.js';
import type { Email, Mailer } from '../outbox/mailer.js';
import type { BrandOfChain } from '../world/hotel-content.js';
import type { LivingWorld, Snapshot } from '../world/living-world.js';
import { type ExportFile, publishExport, writeDrafts } from './export-files.js';
import { createExportTables } from './export-tables.js';

/** What becomes of an export that was taken. Files are named as the SFTP server's clients see them; no address is told. */
export type ExportEvent =
  | {
      readonly kind: 'export-written';
      readonly files: readonly string[];
      /** The e-mail's path on this disk. */
      readonly email?: string;
    }
  /** By a fault: of each file only the first half of the records. */
  | { readonly kind: 'export-partial'; readonly files: readonly string[]; readonly email?: string }
  /** By a fault: neither files nor an e-mail. */
  | { readonly kind: 'export-missing'; readonly files: readonly string[] }
  /** The sandbox was closed before; files that were growing are left as far as they had got. */
  | { readonly kind: 'export-given-up'; readonly files: readonly string[] }
  /** The disk refused them, with the error's code. */
  | { readonly kind: 'export-failed'; readonly files: readonly string[]; readonly reason: string }
  /** The files are written, and the outbox refused the e-mail. */
  | { readonly kind: 'export-email-failed'; readonly files: readonly string[]; readonly reason: string };

/** The exports of the mappings. (Spec 4.5.) */
export interface Exports {
  /** Answers at once; the files, which hold the world as it is now, and the e-mail about them come after the delay. */
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
  readonly emails: Mailer;
  readonly onEvent: (event: ExportEvent) => void;
}

interface TakenExport {
  readonly request: ExportRequest;
  readonly snapshot: Snapshot;
  readonly fault: ResultFault | undefined;
  readonly names: { readonly mappings: string; readonly transformed: string; readonly hotels: string };
}

export function createExports(options: ExportsOptions): Exports {
  const { world, root, folder, drafts, accountName, delayMs, faults, emails, onEvent } = options;
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
  ): Promise<{ readonly email?: string }> {
    try {
      return { email: await emails.post(writeExportEmail(emailId, providers, files)) };
    } catch (error) {
      onEvent({ kind: 'export-email-failed', files, reason: nameReason(error) });
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

/** The e-mail that an export goes with: it names the files. (Assumed: the specification doesn't say what it holds.) */
export function writeExportEmail(to: string, providers: readonly string[], files: readonly string[]): Email {
  const paragraphs = [
    `The mappings of ${providers.join(', ')} have been exported. The files are on the SFTP server:`,
    files.map((file) => `  ${file}`).join('\n'),
  ];
  return { to, subject: 'Your mappings have been exported', text: `${paragraphs.join('\n\n')}\n` };
}

/** What a call of Export Mappings File asks for. (Spec 4.5.) */
export interface ExportRequest {
  readonly kind: 'request';
  readonly emailId: string;
  /** Those whose mappings are exported. */
  readonly providers: readonly string[];
}

/** Somebody at a domain; nothing that could end a header or name a second recipient. */
const address = /^[^\s@,;:<>()[\]"\\\p{Cc}]{1,64}@[^\s@,;:<>()[\]"\\\p{Cc}]{1,255}$/u;

/**
 * Reads the parameters. One that is blank counts as not given.
 *
 * @param known the providers that there are
 */
export function readExportRequest(
  parameters: URLSearchParams,
  known: readonly string[],
): ExportRequest | Refusal {
  const emailId = parameters.get('emailId')?.trim() ?? '';
  if (emailId === '')
    return refusal(2025, 'emailId is missing: expected the e-mail address that the export goes to.');
  if (!address.test(emailId)) return refusal(2002, 'emailId: expected one e-mail address.');
  const asked = (parameters.get('providerfamilies') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (asked.some((name) => !known.includes(name)))
    return refusal(
      2011,
      `providerfamilies: expected names of ${known.join(', ')}, separated by commas, in exact case.`,
    );
  const isAsked = (name: string) => asked.length === 0 || asked.includes(name);
  return { kind: 'request', emailId, providers: known.filter(isAsked) };
}
