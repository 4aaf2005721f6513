/** An exclusive right that lasts until its holder releases it or dies. */
export interface Hold {
  /**
   * Aborts when the right is lost, or may be lost: another process may have it. A lock held by the kernel is never lost.
   */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}
