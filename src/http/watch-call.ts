/** A call that starts. */
export interface StartedCall {
  readonly method: 'GET' | 'POST';
  /** Without its query. */
  readonly url: string;
}

/** How a call ended: with the answer's status, if one arrived, and without a whole answer also with a short code. */
export interface EndedCall {
  readonly status?: number | undefined;
  readonly failure?: string | undefined;
}

/** Called when a call starts. Returns what to call when it has ended. Neither may throw. */
export type WatchCall = (call: StartedCall) => (end: EndedCall) => void;
