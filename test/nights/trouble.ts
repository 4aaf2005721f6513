import { ArchiveError } from '../../src/archive/archive.js';
import { MappingServiceError } from '../../src/mapping-service/errors.js';
import type { Verdict } from '../../src/mapping-service/verdict.js';
import { SftpError } from '../../src/sftp/sftp.js';
import { beginLife, type Death, type Life } from '../crash/life.js';
import type { Choices } from './choices.js';

/** What goes wrong at the n-th point of what a process does to the outside, counted from 1: it dies before or after that, or that fails. */
export interface Trouble {
  readonly at: number;
  readonly kind: 'dies-before' | 'dies-after' | 'fails';
}

/** A life in which something may go wrong once, other than a death. */
export interface TroubledLife extends Life {
  /** The point at which it went wrong, and how; undefined if it has not. */
  readonly struck: string | undefined;
}

const unanswered: Verdict = {
  kind: 'retryable',
  code: 'timeout',
  outcomeUnknown: true,
  refusedWhenSpent: false,
};

/** How each part fails, by the first word of its point's name. Nothing else fails. */
const failures: Readonly<Record<string, { readonly kind: string; fail(): never }>> = {
  sftp: {
    kind: 'connection lost',
    fail() {
      throw new SftpError('retryable', 'connection-lost', 'the connection was lost');
    },
  },
  mappings: {
    kind: 'page failed',
    fail() {
      const details = { kind: 'retryable', code: 'http-503', operation: 'getMappings' } as const;
      throw new MappingServiceError('the service is away', details);
    },
  },
  archive: {
    kind: 'disk full',
    fail() {
      throw new ArchiveError('unwritable', 'no space left on the device');
    },
  },
  spool: {
    kind: 'disk full',
    fail() {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    },
  },
  commit: {
    kind: 'ledger full',
    fail() {
      throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    },
  },
};

export function beginTroubledLife(trouble?: Trouble): TroubledLife {
  const inner = beginLife(trouble && deathOf(trouble));
  let failed: string | undefined;

  /** The part that fails here, if this is the point. */
  function findFailing(name: string): string | undefined {
    const [part = ''] = name.split('.');
    const isDue = trouble?.kind === 'fails' && failed === undefined && inner.points.length + 1 >= trouble.at;
    return isDue && (part === 'service' || part in failures) ? part : undefined;
  }

  return {
    get points() {
      return inner.points;
    },
    get isOver() {
      return inner.isOver;
    },
    get struck() {
      return inner.isOver ? trouble?.kind : failed;
    },
    async pass<Result>(name: string, action: () => Promise<Result>): Promise<Result> {
      const part = findFailing(name);
      if (part === undefined) return inner.pass(name, action);
      failed = failures[part]?.kind ?? 'answer lost';
      failures[part]?.fail();
      await action();
      return unanswered as Result;
    },
    passAtOnce<Result>(name: string, action: () => Result): Result {
      const part = findFailing(name);
      if (part === undefined) return inner.passAtOnce(name, action);
      failed = failures[part]?.kind;
      failures[part]?.fail();
      return action();
    },
  };
}

function deathOf({ at, kind }: Trouble): Death | undefined {
  switch (kind) {
    case 'dies-before':
      return { at, mode: 'before' };
    case 'dies-after':
      return { at, mode: 'after' };
    case 'fails':
      return undefined;
  }
}

/** What may have gone wrong. */
export const troubleKinds: readonly string[] = [
  ...['dies-before', 'dies-after', 'answer lost'],
  ...new Set(Object.values(failures).map(({ kind }) => kind)),
];

export function someTrouble({ isOneIn, pick, below }: Choices): Trouble | undefined {
  // Early points more often than late ones, which few processes reach.
  return isOneIn(3)
    ? { at: 1 + below(1 + below(60)), kind: pick(['dies-before', 'dies-after', 'fails']) }
    : undefined;
}

export function tellTrouble({ at, kind }: Trouble): string {
  return kind === 'fails' ? `point ${at} fails` : `the process ${kind.replace('-', ' ')} point ${at}`;
}
