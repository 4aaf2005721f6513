/**
 * Tells when a slot of a cron pattern has come.
 *
 * A slot that is told is a hint to look at what is owed, no more than that: one may come late, twice, or not at all.
 * Which days are owed is what the ledger says. (duties.ts)
 */
export interface Schedule {
  /**
   * Begins to tell slots. Called once. It returns within seconds also where the place that keeps the schedule is away;
   * the schedule is set as soon as that place is back.
   */
  start(onSlot: (slot: Date) => void): Promise<void>;
  /** Tells no slot any more. Returns within seconds, whoever is away. Idempotent. */
  close(): Promise<void>;
}
