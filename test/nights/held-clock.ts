/** Holds the process's clock at an instant that a test sets, in epoch milliseconds. Timers stay real. */
export interface HeldClock {
  set(instant: number): void;
  release(): void;
}

export function holdClock(startsAt: number): HeldClock {
  const Real = Date;
  let now = startsAt;
  class Held extends Real {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [now] : given) as [number]));
    }
    static override now(): number {
      return now;
    }
  }
  globalThis.Date = Held as DateConstructor;
  return {
    set(instant) {
      now = instant;
    },
    release() {
      globalThis.Date = Real;
    },
  };
}
