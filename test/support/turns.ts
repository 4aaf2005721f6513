/** Counts the turns of the event loop until it is stopped. */
export function countTurns() {
  let turns = 0;
  const count = () => {
    turns += 1;
    turning = setImmediate(count);
  };
  let turning = setImmediate(count);
  return {
    /** The turns since the last call. */
    take(): number {
      const taken = turns;
      turns = 0;
      return taken;
    },
    stop: () => clearImmediate(turning),
  };
}
