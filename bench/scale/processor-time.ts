import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second. */
const ticksPerSecond = 100;

interface Account {
  readonly parent: number;
  /** Its own seconds, user and system. */
  readonly own: number;
  /** Those of its exited children. */
  readonly ofEnded: number;
}

/** The processor time of a process so far, in seconds, including all its children, running and exited. */
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
    // The program's name is in parentheses and may contain anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    const seconds = (index: number) => Number(fields[index]) / ticksPerSecond;
    return {
      parent: Number(fields[1]),
      own: seconds(11) + seconds(12),
      ofEnded: seconds(13) + seconds(14),
    };
  } catch {
    // It has exited meanwhile.
    return undefined;
  }
}
