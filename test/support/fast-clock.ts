import { onTestFinished } from 'vitest';

export interface FastClock {
  /** Sets it to an instant, from which it goes on at its usual speed. */
  set(instant: string): void;
  /** Back to the time that it is. */
  reset(): void;
}

/** Sets the clock of this process, and of all commands that are called in it, until the test ends. Timers keep real time. */
export function useFastClock(): FastClock {
  const RealDate = Date;
  let aheadMs = 0;
  const now = () => RealDate.now() + aheadMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (date, args, newTarget) =>
      Reflect.construct(date, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (date, name, receiver) => (name === 'now' ? now : Reflect.get(date, name, receiver)),
  });
  onTestFinished(() => {
    globalThis.Date = RealDate;
  });
  return {
    set(instant) {
      aheadMs = RealDate.parse(instant) - RealDate.now();
    },
    reset() {
      aheadMs = 0;
    },
  };
}
