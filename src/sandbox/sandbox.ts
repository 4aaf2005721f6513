import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type FaultPlan, noFaults } from './common/faults.js';
import { createExports, type ExportEvent } from './export/exports.js';
import { createFileReview } from './file-review/file-review.js';
import type { EmptyCells } from './file-review/file-rules.js';
import type { FileReviewEvent } from './file-review/pending-results.js';
import type { LastPageKey } from './mapping-pages/mapping-pages.js';
import { createMailer } from './outbox/mailer.js';
import { createOutbox, type EmailForms } from './outbox/outbox.js';
import type { ErrorShape } from './service/send-answer.js';
import { type SandboxService, type ServiceEvent, startService, type TlsFiles } from './service/service.js';
import type { SftpEvent } from './sftp/channel.js';
import { readOrMakeHostKey } from './sftp/host-key.js';
import { type SandboxSftp, startSftp } from './sftp/sftp-server.js';
import { createBrands } from './world/hotel-content.js';
import { createWorld, type World } from './world/world.js';

/** The credentials. They protect nothing, and are printed and written to files. */
export const account = {
  /** The prefix of export file names. */
  name: 'sandbox',
  apiKey: 'sandbox-key',
  accountId: 'sandbox-account',
  email: 'mappings@agency.example',
  login: { username: 'sandbox', password: 'sandbox-password' },
} as const;

export type SandboxEvent =
  | ({ readonly part: 'service' } & ServiceEvent)
  | ({ readonly part: 'file-review' } & FileReviewEvent)
  | ({ readonly part: 'export' } & ExportEvent)
  | ({ readonly part: 'sftp' } & SftpEvent);

export interface SandboxOptions {
  /** For the SFTP root, the outbox and the host key; created when missing. */
  readonly folder: string;
  readonly clock: () => number;
  /** The name or address to listen on and to be reached by; 127.0.0.1 by default. */
  readonly host?: string;
  /** Without it, the service speaks plain http. */
  readonly tls?: TlsFiles | undefined;
  /** Of the service; by default, or for 0, any free port. */
  readonly port?: number;
  readonly sftpPort?: number;
  /** The usual world if absent. */
  readonly world?: World;
  /** None by default. */
  readonly faults?: FaultPlan;
  readonly errorShape?: ErrorShape;
  readonly masterIdName?: string;
  readonly masterIdColumn?: string;
  /** How long a resume key is valid; 14 days by default. */
  readonly resumeKeyDays?: number;
  /** The resume key of the last page of mappings; `null` by default. */
  readonly lastPageKey?: LastPageKey;
  /** The most mappings that a page may have; 1,000 by default. */
  readonly maxLimit?: number;
  /** How empty cells of a review file are read; `refuse` by default. */
  readonly emptyCells?: EmptyCells;
  /** The folder for exports below the SFTP root; by default the root itself. */
  readonly exportFolder?: string;
  /** Delay between a call and its result or export; 2,000 by default. */
  readonly resultDelayMs?: number;
  /** The form of the e-mails about reviews; `list` by default. */
  readonly emailForm?: EmailForms;
  /** Called for everything that happens; events contain no guest names. */
  readonly onEvent?: (event: SandboxEvent) => void;
}

export interface Sandbox {
  readonly folder: string;
  readonly masterIdName: string;
  readonly masterIdColumn: string;
  readonly exportFolder: string;
  readonly service: Pick<SandboxService, 'baseUrl' | 'counts'>;
  readonly sftp: Pick<SandboxSftp, 'host' | 'port' | 'fingerprint'> & {
    /** The SFTP root on this disk. */
    readonly root: string;
  };
  /** The folder of e-mails. */
  readonly outbox: string;
  /** Stops both servers and abandons pending results. Idempotent. */
  close(): Promise<void>;
}

const dayMs = 86_400_000;

/** Starts the stand-in for the mapping service: HTTP service, SFTP server and outbox. */
export async function startSandbox({
  folder,
  clock,
  host = '127.0.0.1',
  tls,
  port = 0,
  sftpPort = 0,
  world = createWorld(),
  faults = noFaults,
  errorShape = 'envelope',
  masterIdName = 'ServiceId',
  masterIdColumn = 'Service Mappings Id',
  resumeKeyDays = 14,
  lastPageKey,
  maxLimit,
  emptyCells = 'refuse',
  exportFolder = '',
  resultDelayMs = 2_000,
  emailForm,
  onEvent = () => {},
}: SandboxOptions): Promise<Sandbox> {
  const [root, outboxFolder] = [join(folder, 'sftp'), join(folder, 'outbox', 'new')];
  const drafts = join(folder, '.sandbox-drafts');
  const exportDrafts = join(folder, '.sandbox-export-drafts');
  await mkdir(root, { recursive: true, mode: 0o700 });
  // Whoever reads e-mails from it must not take its absence for a fault.
  for (const part of [outboxFolder, join(folder, 'outbox', 'cur')])
    await mkdir(part, { recursive: true, mode: 0o700 });
  // A sandbox that was killed leaves drafts behind, which name guests.
  await rm(drafts, { recursive: true, force: true });
  await rm(exportDrafts, { recursive: true, force: true });
  const brands = createBrands(world.seed);
  const mail = { folder: outboxFolder, from: 'review@mapping-service.example', clock };
  const outbox = createOutbox({ ...mail, to: account.email, world, form: emailForm });
  const fileReview = createFileReview({
    root,
    drafts,
    world,
    masterIdColumn,
    emptyCells,
    resultDelayMs,
    faults,
    outbox,
    onEvent: (event) => onEvent({ part: 'file-review', ...event }),
  });
  let sftpAddress = host;
  const exports = createExports({
    world,
    brands,
    root,
    folder: exportFolder,
    drafts: exportDrafts,
    accountName: account.name,
    masterIdName,
    delayMs: resultDelayMs,
    faults,
    mailer: createMailer(mail),
    linkTo: (file) => `sftp://${sftpAddress}/${file.split('/').map(encodeURIComponent).join('/')}`,
    onEvent: (event) => onEvent({ part: 'export', ...event }),
  });
  const sftp = await startSftp({
    host,
    port: sftpPort,
    root,
    hostKey: await readOrMakeHostKey(join(folder, 'host-key')),
    login: account.login,
    clock,
    onEvent: (event) => onEvent({ part: 'sftp', ...event }),
  });
  sftpAddress = `${host.includes(':') ? `[${host}]` : host}:${sftp.port}`;
  const service = await startService({
    host,
    port,
    tls,
    account,
    masterIdName,
    errorShape,
    world,
    brands,
    resumeKeyMs: resumeKeyDays * dayMs,
    lastPageKey,
    maxLimit,
    exports,
    faults,
    outbox,
    fileReview,
    clock,
    onEvent: (event) => onEvent({ part: 'service', ...event }),
  }).catch(async (error: unknown) => {
    await sftp.close();
    throw error;
  });
  return {
    folder,
    masterIdName,
    masterIdColumn,
    exportFolder,
    service,
    sftp: { host: sftp.host, port: sftp.port, fingerprint: sftp.fingerprint, root },
    outbox: outboxFolder,
    async close() {
      // In parallel: the service waits for its calls, and a call with a large file only ends when its review is aborted.
      await Promise.all([service.close(), fileReview.close(), exports.close()]);
      await sftp.close();
    },
  };
}
