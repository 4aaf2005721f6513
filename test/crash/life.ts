/**
 * When a process dies: at its n-th point, before that action takes effect, or after it and before its answer
 * arrives.
 */
export interface Death {
  /** Counted from 1. */
  readonly at: number;
  readonly mode: 'before' | 'after';
}

/** What everything that a dead process still tries ends with. */
export class DeathError extends Error {
  override readonly name = 'DeathError';
}

/**
 * The life of one process. Each commit of the ledger and each outside action passes through it as a point;
 * from its death on none takes effect.
 */
export interface Life {
  /** The names of all points so far, in order. */
  readonly points: readonly string[];
  readonly isOver: boolean;
  pass<Result>(name: string, action: () => Promise<Result>): Promise<Result>;
  /** The same for an action that is over when it returns. */
  passAtOnce<Result>(name: string, action: () => Result): Result;
}

export function beginLife(death?: Death): Life {
  const points: string[] = [];
  let isOver = false;

  /** Returns whether the action is the last one, whose answer is lost. */
  function arrive(name: string): boolean {
    if (isOver) throw new DeathError(`${name} of a dead process`);
    points.push(name);
    if (points.length !== death?.at) return false;
    isOver = true;
    if (death.mode === 'before') throw new DeathError(`before ${name}`);
    return true;
  }

  return {
    points,
    get isOver() {
      return isOver;
    },
    async pass(name, action) {
      if (!arrive(name)) return action();
      await action().catch(() => undefined);
      throw new DeathError(`after ${name}`);
    },
    passAtOnce(name, action) {
      if (!arrive(name)) return action();
      action();
      throw new DeathError(`after ${name}`);
    },
  };
}

/** The same port, whose named methods are points of that life. */
export function throughLife<Port extends object>(
  life: Pick<Life, 'pass'>,
  label: string,
  port: Port,
  actions: readonly (keyof Port & string)[],
): Port {
  const isAction = (key: string | symbol) => actions.some((action) => action === key);
  return new Proxy(port, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function' || !isAction(key)) return member;
      return (...given: unknown[]) =>
        life.pass(`${label}.${String(key)}`, async () => Reflect.apply(member, target, given) as unknown);
    },
  });
}
