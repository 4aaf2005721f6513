import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts processor time in hundredths of a second. (Linux.) */
const ticksPerSecond = 100;

interface Account {
  readonly parent: number;
  /** Seconds of its own, user and system. */
  readonly own: number;
  /** Of its children that have ended. */
  readonly ofEnded: number;
}

/** Seconds of processor time that a process has taken so far, with all its children, living and ended. */
export function processorSecondsOf(pid: number): number {
  const accounts = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        const account = readAccount(Number(name));
        return account ? [[Number(name), account] as const] : [];
      }),
  );
  const total = (process: number): number => {
    const account = accounts.get(process);
    if (!account) return 0;
    const children = [...accounts].filter(([, { parent }]) => parent === process).map(([child]) => child);
    return account.own + account.ofEnded + children.reduce((sum, child) => sum + total(child), 0);
  };
  return total(pid);
}

function readAccount(pid: number): Account | undefined {
  try {
    // The name of the program stands in parentheses, and may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    const seconds = (index: number) => Number(fields[index]) / ticksPerSecond;
    return {
      parent: Number(fields[1]),
      own: seconds(11) + seconds(12),
      ofEnded: seconds(13) + seconds(14),
    };
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}
