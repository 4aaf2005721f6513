import { onTestFinished } from 'vitest';

export interface FastClock {
  /** Sets it to an instant, from which it continues at its usual speed, or this many times as fast. */
  set(instant: string, speed?: number): void;
  /** Back to the real time. */
  reset(): void;
}

/** Sets the clock of this process, and of all commands that are called in it, until the test ends. Timers keep real time. */
export function useFastClock(): FastClock {
  const clock = startFastClock();
  onTestFinished(clock.end);
  return clock;
}

/** The same until `end` is called. */
export function startFastClock(): FastClock & { end(): void } {
  const RealDate = Date;
  let [since, instantThen, speedThen] = [0, 0, 1];
  const now = () => Math.floor(instantThen + (RealDate.now() - since) * speedThen);
  globalThis.Date = new Proxy(RealDate, {
    construct: (date, args, newTarget) =>
      Reflect.construct(date, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (date, name, receiver) => (name === 'now' ? now : Reflect.get(date, name, receiver)),
  });
  return {
    set(instant, speed = 1) {
      [since, instantThen, speedThen] = [RealDate.now(), RealDate.parse(instant), speed];
    },
    reset() {
      [since, instantThen, speedThen] = [0, 0, 1];
    },
    end() {
      globalThis.Date = RealDate;
    },
  };
}
