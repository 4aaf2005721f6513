/** A right that one has until one gives it up, or dies. */
export interface Hold {
  /** Aborts when the right was lost, or may be: somebody else may have it. Never does where the kernel holds it. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}
