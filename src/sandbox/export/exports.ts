import { randomUUID } from 'node:crypto';
import { readFile, rm, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, type Refusal, refusal } from '../common/answer.js';
import { hasCode, nameReason } from '../common/errors.js';
import type { FaultPlan, ResultFault } from '../common/faults.js';
import type { Attachment, Email, Mailer } from '../outbox/mailer.js';
import type { BrandOfChain } from '../world/hotel-content.js';
import type { World } from '../world/world.js';
import { publishExport, writeDrafts } from './export-files.js';
import { createExportTables } from './export-tables.js';

/** What becomes of an accepted export. Files are named as SFTP clients see them; no address is included. */
export type ExportEvent =
  | {
      readonly kind: 'export-written';
      readonly files: readonly string[];
      /** The e-mail's path on this disk. */
      readonly email?: string;
    }
  /** By a fault: only the first half of the records of each file. */
  | { readonly kind: 'export-partial'; readonly files: readonly string[]; readonly email?: string }
  /** By a fault: neither files nor an e-mail. */
  | { readonly kind: 'export-missing'; readonly files: readonly string[] }
  /** The sandbox was closed first; growing files keep what had been written. */
  | { readonly kind: 'export-given-up'; readonly files: readonly string[] }
  /** Writing to disk failed; `reason` is the error's code. */
  | { readonly kind: 'export-failed'; readonly files: readonly string[]; readonly reason: string }
  /** The files are written, but the e-mail could not be. */
  | { readonly kind: 'export-email-failed'; readonly files: readonly string[]; readonly reason: string };

/** Exports of the mappings. (Spec 4.5.) */
export interface Exports {
  /** Answers at once. The files and then the e-mail follow after the delay. */
  accept(parameters: URLSearchParams): Answer;
  /** Abandons pending exports and waits for those being written. Idempotent. */
  close(): Promise<void>;
}

interface ExportsOptions {
  readonly world: World;
  readonly brands: readonly BrandOfChain[];
  /** The SFTP root on this disk. */
  readonly root: string;
  /** The folder for exports below the root, without a leading slash; empty for the root itself. */
  readonly folder: string;
  /** A folder outside the SFTP root but on its disk, for drafts. Created when needed, removed by `close`. */
  readonly drafts: string;
  /** The prefix of the file names. */
  readonly accountName: string;
  readonly masterIdName: string;
  readonly delayMs: number;
  /** Asked once per accepted export. */
  readonly faults: Pick<FaultPlan, 'nextResult'>;
  readonly mailer: Mailer;
  /** The address of a published file, for e-mails. */
  readonly linkTo: (file: string) => string;
  readonly onEvent: (event: ExportEvent) => void;
}

interface ExportRequest {
  readonly kind: 'request';
  readonly emailId: string;
  /** The providers whose mappings are exported. */
  readonly providers: readonly string[];
}

interface AcceptedExport {
  readonly request: ExportRequest;
  readonly fault: ResultFault | undefined;
  readonly names: { readonly mappings: string; readonly transformed: string; readonly hotels: string };
}

/** Above this the e-mail links to the files, as mail servers refuse large attachments. */
const maxAttachedBytes = 10 * 1024 * 1024;

/** One address with a domain; no character that could end a header or add a recipient. */
const emailAddress = /^[^\s@,;:<>()[\]"\\\p{Cc}]{1,64}@[^\s@,;:<>()[\]"\\\p{Cc}]{1,255}$/u;

export function createExports(options: ExportsOptions): Exports {
  const { world, root, folder, drafts, accountName, delayMs, faults, mailer, linkTo, onEvent } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const pending = new Set<Promise<void>>();

  function nameFile(kind: string, guid: string): string {
    return posix.join(folder, `${accountName}_${kind}_${guid}.csv`);
  }

  async function perform({ request, fault, names }: AcceptedExport): Promise<void> {
    const files = Object.values(names);
    try {
      const lateMs = fault?.kind === 'result-late' ? fault.seconds * 1_000 : 0;
      await wait(delayMs + lateMs, undefined, { signal });
      if (fault?.kind === 'result-missing') return onEvent({ kind: 'export-missing', files });
      const tables = createExportTables({ ...options, providers: request.providers });
      const drafted = await writeDrafts({ tables, names, root, drafts, signal });
      await publishExport(drafted, fault, signal);
      const kind = fault?.kind === 'result-partial' ? 'export-partial' : 'export-written';
      onEvent({ kind, files, ...(await notify(request, files)) });
    } catch (error) {
      if (signal.aborted) onEvent({ kind: 'export-given-up', files });
      else onEvent({ kind: 'export-failed', files, reason: nameReason(error) });
    }
  }

  async function notify(
    request: ExportRequest,
    files: readonly string[],
  ): Promise<{ readonly email?: string }> {
    try {
      const attachments = await readAttachments(root, files);
      return { email: await mailer.post(composeEmail(request, { files, attachments, linkTo })) };
    } catch (error) {
      onEvent({ kind: 'export-email-failed', files, reason: nameReason(error) });
      return {};
    }
  }

  return {
    accept(parameters) {
      const request = readRequest(parameters, world.providers);
      if (request.kind === 'refusal') return request;
      const guid = randomUUID();
      const names = {
        mappings: nameFile('mappings', guid),
        transformed: nameFile('transformed', guid),
        hotels: nameFile('hotels', guid),
      };
      const accepted = { request, fault: faults.nextResult(), names };
      const performed = perform(accepted).finally(() => pending.delete(performed));
      pending.add(performed);
      return { kind: 'success', message: 'The mappings are being exported.' };
    },
    async close() {
      closing.abort();
      await Promise.all(pending);
      await rm(drafts, { recursive: true, force: true });
    },
  };
}

/** Reads the parameters of a call. A blank one counts as not given. */
function readRequest(
  parameters: URLSearchParams,
  knownProviders: readonly string[],
): ExportRequest | Refusal {
  const emailId = parameters.get('emailId')?.trim() ?? '';
  if (emailId === '')
    return refusal(2025, 'emailId is missing: expected the e-mail address to notify about the export.');
  if (!emailAddress.test(emailId)) return refusal(2002, 'emailId: expected one e-mail address.');
  const wanted = (parameters.get('providerfamilies') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (wanted.some((name) => !knownProviders.includes(name)))
    return refusal(
      2011,
      `providerfamilies: expected names out of ${knownProviders.join(', ')}, separated by commas, in exact case.`,
    );
  const providers = knownProviders.filter((name) => wanted.length === 0 || wanted.includes(name));
  return { kind: 'request', emailId, providers };
}

/** The files as attachments; undefined where they are too large together, or have been taken away already. */
async function readAttachments(
  root: string,
  files: readonly string[],
): Promise<readonly Attachment[] | undefined> {
  try {
    const sizes = await Promise.all(files.map(async (file) => (await stat(join(root, file))).size));
    if (sizes.reduce((total, size) => total + size, 0) > maxAttachedBytes) return undefined;
    return await Promise.all(
      files.map(async (file) => ({
        filename: posix.basename(file),
        content: await readFile(join(root, file)),
        contentType: 'text/csv; charset=utf-8',
      })),
    );
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

interface EmailContent {
  readonly files: readonly string[];
  readonly attachments: readonly Attachment[] | undefined;
  readonly linkTo: (file: string) => string;
}

/** The e-mail delivers the files (spec 4.5): attached, or as links where they are large. (Its words are assumed.) */
function composeEmail(
  { emailId, providers }: ExportRequest,
  { files, attachments, linkTo }: EmailContent,
): Email {
  const where = attachments
    ? 'The files are attached, and on the SFTP server:'
    : 'The files are too large for an e-mail. They are on the SFTP server:';
  const paragraphs = [
    `The mappings of ${providers.join(', ')} have been exported. ${where}`,
    files.map((file) => `  ${attachments ? file : linkTo(file)}`).join('\n'),
  ];
  return {
    to: emailId,
    subject: 'Your mappings have been exported',
    text: `${paragraphs.join('\n\n')}\n`,
    ...(attachments && { attachments }),
  };
}
