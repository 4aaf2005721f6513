import type { Outbox } from '../outbox/outbox.js';
import type { SandboxOptions } from '../sandbox.js';

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
