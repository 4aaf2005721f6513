import type { FaultPlan } from '../common/faults.js';
import type { Tell } from '../common/tell.js';
import type { Outbox } from '../outbox/outbox.js';
import type { World } from '../world/world.js';

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

/** What the parts of a sandbox have in common. */
export interface SandboxParts extends Required<SandboxOptions> {
  /** The SFTP root on this disk. */
  readonly root: string;
  /** A folder outside the SFTP root but on its disk. Created when needed, removed at the end. */
  readonly drafts: string;
  readonly outbox: Outbox;
  /** Aborts when the sandbox is closed: pending results and exports are abandoned. */
  readonly signal: AbortSignal;
  /** What is on its way; at the end, whoever writes it is waited for. */
  readonly pending: Set<Promise<void>>;
}
