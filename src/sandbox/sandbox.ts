import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type FaultPlan, noFaults } from './common/faults.js';
import type { Tell } from './common/tell.js';
import { createExports } from './export/exports.js';
import { createFileReview } from './file-review/file-review.js';
import { createMailer, createOutbox } from './outbox/outbox.js';
import { type SandboxService, startService, type TlsFiles } from './service/service.js';
import { readOrMakeHostKey } from './sftp/host-key.js';
import { type SandboxSftp, startSftp } from './sftp/sftp-server.js';
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
  /** The most mappings that a page may have; 1,000 by default. */
  readonly maxLimit?: number;
  /** Delay between a call and its result or export; 2,000 by default. */
  readonly resultDelayMs?: number;
  /** Called for everything that happens. */
  readonly tell?: Tell;
}

export interface Sandbox {
  readonly folder: string;
  readonly service: SandboxService;
  readonly sftp: Pick<SandboxSftp, 'host' | 'port' | 'fingerprint'> & {
    /** The SFTP root on this disk. */
    readonly root: string;
  };
  /** The folder of e-mails. */
  readonly outbox: string;
  /** Stops both servers and abandons pending results. Idempotent. */
  close(): Promise<void>;
}

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
  maxLimit,
  resultDelayMs = 2_000,
  tell = () => {},
}: SandboxOptions): Promise<Sandbox> {
  const [root, outboxFolder] = [join(folder, 'sftp'), join(folder, 'outbox', 'new')];
  const [drafts, exportDrafts] = [join(folder, '.sandbox-drafts'), join(folder, '.sandbox-export-drafts')];
  // Whoever reads e-mails from it must not take its absence for a fault.
  for (const part of [root, outboxFolder, join(folder, 'outbox', 'cur')])
    await mkdir(part, { recursive: true, mode: 0o700 });
  // A sandbox that was killed leaves drafts behind, which name guests.
  for (const left of [drafts, exportDrafts]) await rm(left, { recursive: true, force: true });
  const mail = { folder: outboxFolder, from: 'review@mapping-service.example', clock };
  const outbox = createOutbox({ ...mail, to: account.email, world });
  const fileReview = createFileReview({
    ...{ root, drafts, world, resultDelayMs, faults, outbox, tell },
  });
  const exports = createExports({
    ...{ world, root, drafts: exportDrafts, accountName: account.name, delayMs: resultDelayMs, faults, tell },
    mailer: createMailer(mail),
  });
  const sftp = await startSftp({
    ...{ host, port: sftpPort, root, login: account.login, tell },
    hostKey: await readOrMakeHostKey(join(folder, 'host-key')),
  });
  const service = await startService({
    ...{ host, port, tls, account, world, maxLimit, exports, faults, outbox, fileReview, clock, tell },
  }).catch(async (error: unknown) => {
    await sftp.close();
    throw error;
  });
  return {
    ...{ folder, service, outbox: outboxFolder },
    sftp: { host: sftp.host, port: sftp.port, fingerprint: sftp.fingerprint, root },
    async close() {
      // In parallel: the service waits for its calls, and a call with a large file only ends when its review is aborted.
      await Promise.all([service.close(), fileReview.close(), exports.close()]);
      await sftp.close();
    },
  };
}
