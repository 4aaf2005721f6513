import type { ProxyRules } from '../../transports/http/connection-rules.js';

/** What channels need of their process. */
export interface ChannelParts {
  /** How https connections leave this machine. E-mails use no proxy. */
  readonly proxy: ProxyRules;
  /** Epoch milliseconds */
  readonly clock: () => number;
  /** Gets what a person should know about an accepted message. It never quotes the receiver. */
  readonly warn: (line: string) => void;
  /** How long sending a message may take; by default as `confirmWithinMs` says. */
  readonly timeoutMs?: number;
}
