/** A call that starts. */
export interface StartedCall {
  readonly method: 'GET' | 'POST';
  /** Without its query. */
  readonly url: string;
}

/** How a call ended: the answer's status, if one arrived, and a short code if the answer is incomplete. */
export interface EndedCall {
  readonly status?: number | undefined;
  readonly failure?: string | undefined;
}

/** Called when a call starts. Returns a function to call when it has ended. Neither may throw. */
export type WatchCall = (call: StartedCall) => (end: EndedCall) => void;
