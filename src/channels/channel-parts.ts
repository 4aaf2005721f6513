import type { ProxyRules } from '../http/connection-rules.js';

/** What channels need of their process. */
export interface ChannelParts {
  /** How https connections leave this machine. E-mails take no proxy. */
  readonly proxy: ProxyRules;
  /** Epoch milliseconds */
  readonly clock: () => number;
  /** Takes what a person should know about a message that was accepted nevertheless. It quotes nothing of the receiver. */
  readonly warn: (line: string) => void;
  /** How long sending a message may take; by default 15 s, and 30 s for an e-mail. */
  readonly timeoutMs?: number;
}
