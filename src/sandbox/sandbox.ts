import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { account } from './common/account.js';
import { type FaultPlan, noFaults } from './common/faults.js';
import type { Tell } from './common/tell.js';
import { createOutbox } from './outbox/outbox.js';
import type { SandboxParts } from './parts/parts.js';
import { startService } from './service/service.js';
import { readOrMakeHostKey } from './sftp/host-key.js';
import { startSftp } from './sftp/sftp-server.js';
import { createWorld, type World } from './world/world.js';

export interface SandboxOptions {
  /** For the SFTP root, the outbox and the host key; created when missing. */
  readonly folder: string;
  readonly clock: () => number;
  /** The name or address to listen on and to be reached by; 127.0.0.1 by default. */
  readonly host?: string;
  /** In PEM. Without it, the service speaks plain http. */
  readonly tls?: { readonly certificate: Buffer; readonly key: Buffer } | undefined;
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

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** Starts the stand-in for the mapping service: HTTP service, SFTP server and outbox. */
export async function startSandbox({ world = createWorld(), ...options }: SandboxOptions) {
  const { folder, clock } = options;
  const [root, outboxFolder] = [join(folder, 'sftp'), join(folder, 'outbox', 'new')];
  const drafts = join(folder, '.sandbox-drafts');
  // Whoever reads e-mails from it must not take its absence for a fault.
  for (const part of [root, outboxFolder, join(folder, 'outbox', 'cur')])
    await mkdir(part, { recursive: true, mode: 0o700 });
  // A sandbox that was killed leaves drafts behind, which name guests.
  await rm(drafts, { recursive: true, force: true });
  const mail = { folder: outboxFolder, from: 'review@mapping-service.example', to: account.email };
  const closing = new AbortController();
  const parts: SandboxParts = {
    ...{ host: '127.0.0.1', tls: undefined, port: 0, sftpPort: 0 },
    ...{ faults: noFaults, maxLimit: 1_000, resultDelayMs: 2_000, tell: () => {} },
    ...{ ...options, world, root, drafts, signal: closing.signal, pending: new Set() },
    outbox: createOutbox({ ...mail, world, clock }),
  };
  const { host, sftpPort: port, tell } = parts;
  const { close: closeSftp, ...sftp } = await startSftp({
    ...{ host, port, root, login: account.login, tell },
    hostKey: await readOrMakeHostKey(join(folder, 'host-key')),
  });
  const service = await startService(parts).catch(async (error: unknown) => {
    await closeSftp();
    throw error;
  });
  return {
    ...{ folder, service },
    /** Its root is a folder on this disk. */
    sftp: { ...sftp, root },
    /** The folder of e-mails. */
    outbox: outboxFolder,
    /** Stops both servers and abandons pending results. Idempotent. */
    async close(): Promise<void> {
      // First: the service waits for its calls, and a call with a large file only ends when its review is aborted.
      closing.abort();
      await service.close();
      await Promise.all(parts.pending);
      await closeSftp();
      await rm(drafts, { recursive: true, force: true });
    },
  };
}
