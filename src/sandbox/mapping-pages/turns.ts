/** Calls of one sync cycle come one after another: a second one at the same time is not wanted. */
export interface Turns {
  /** @returns what ends the turn; undefined while another call of that cycle has it */
  begin(syncId: string): (() => void) | undefined;
}

export function createTurns(): Turns {
  const underWay = new Set<string>();
  return {
    begin(syncId) {
      if (underWay.has(syncId)) return undefined;
      underWay.add(syncId);
      return () => underWay.delete(syncId);
    },
  };
}
