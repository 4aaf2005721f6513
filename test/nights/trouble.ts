import type { CallResult } from '../../src/service/call-result.js';
import { MappingServiceError } from '../../src/service/errors.js';
import { ArchiveError } from '../../src/storage/archive.js';
import { SftpError } from '../../src/transports/sftp/sftp.js';
import { beginLife, type Death, type Life } from '../crash/life.js';
import type { Choices } from './choices.js';

/**
 * What goes wrong at the n-th point of what a process does to the outside, counted from 1: it dies before or after that, that fails, the
 * clock jumps, or, from then on, the service refuses a call.
 */
export interface Trouble {
  readonly at: number;
  readonly kind: 'dies-before' | 'dies-after' | 'fails' | 'jumps' | 'refuses';
  /** Counted from when the process begins to tell people, at its end. */
  readonly isTelling?: boolean | undefined;
}

/** A life in which something may go wrong once, other than a death. */
export interface TroubledLife extends Life {
  /** The point at which it went wrong, and how; undefined if it has not. */
  readonly struck: string | undefined;
  beginTelling(): void;
}

const [diesTelling, jumped] = ['dies telling', 'clock jumps'];

const unanswered: CallResult = {
  kind: 'retryable',
  code: 'timeout',
  outcomeUnknown: true,
  refusedWhenSpent: false,
};

/** What nobody but a person may try again. */
export const refused = 'call refused';
const refusals: Readonly<Record<string, CallResult>> = {
  'service.reviewBookedHotels': { kind: 'fatal', code: 'http-404', httpStatus: 404 },
  'service.reviewBookedHotelsByFile': { kind: 'refused', code: 'http-422', httpStatus: 422 },
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

export function beginTroubledLife(trouble?: Trouble, jump = () => {}): TroubledLife {
  /** How many points come before those that the trouble counts. */
  let before = trouble?.isTelling ? Infinity : 0;
  const inner = beginLife(trouble && deathOf(trouble, () => before));
  let failed: string | undefined;

  /** The part that fails here, if this is the point. */
  function findFailing(name: string): string | undefined {
    const [part = ''] = name.split('.');
    return isDue('fails') && (part === 'service' || part in failures) ? part : undefined;
  }

  /** As on a machine that was suspended. */
  function jumpIfDue(): void {
    if (!isDue('jumps')) return;
    failed = jumped;
    jump();
  }

  function isDue(kind: Trouble['kind']): boolean {
    return trouble?.kind === kind && failed === undefined && inner.points.length + 1 >= before + trouble.at;
  }

  return {
    get points() {
      return inner.points;
    },
    get isOver() {
      return inner.isOver;
    },
    get struck() {
      if (!inner.isOver) return failed;
      return trouble?.isTelling ? diesTelling : trouble?.kind;
    },
    beginTelling() {
      if (before === Infinity) before = inner.points.length;
    },
    async pass<Result>(name: string, action: () => Promise<Result>): Promise<Result> {
      jumpIfDue();
      const refusal = isDue('refuses') ? refusals[name] : undefined;
      if (refusal) {
        failed = refused;
        return refusal as Result;
      }
      const part = findFailing(name);
      if (part === undefined) return inner.pass(name, action);
      failed = failures[part]?.kind ?? 'answer lost';
      failures[part]?.fail();
      await action();
      return unanswered as Result;
    },
    passAtOnce<Result>(name: string, action: () => Result): Result {
      jumpIfDue();
      const part = findFailing(name);
      if (part === undefined) return inner.passAtOnce(name, action);
      failed = failures[part]?.kind;
      failures[part]?.fail();
      return action();
    },
  };
}

function deathOf({ at, kind }: Trouble, countBefore: () => number): Death | undefined {
  const die = (mode: Death['mode']): Death => ({
    get at() {
      return countBefore() + at;
    },
    mode,
  });
  switch (kind) {
    case 'dies-before':
      return die('before');
    case 'dies-after':
      return die('after');
    case 'fails':
    case 'jumps':
    case 'refuses':
      return undefined;
  }
}

/** What may have gone wrong. */
export const troubleKinds: readonly string[] = [
  ...['dies-before', 'dies-after', diesTelling, 'answer lost', jumped, refused],
  ...new Set(Object.values(failures).map(({ kind }) => kind)),
];

export function someTrouble({ isOneIn, pick, below }: Choices): Trouble | undefined {
  if (!isOneIn(3)) return undefined;
  const kind = pick(['dies-before', 'dies-after', 'fails', 'jumps', 'refuses'] as const);
  if (kind !== 'refuses' && isOneIn(4)) return { at: 1 + below(8), kind, isTelling: true };
  // Early points more often than late ones, which few processes reach.
  return { at: 1 + below(1 + below(60)), kind };
}

export function tellTrouble({ at, kind, isTelling }: Trouble): string {
  const point = `point ${at}${isTelling ? ' of telling people' : ''}`;
  if (kind === 'refuses') return `from ${point} on the service refuses a call`;
  if (kind === 'jumps') return `at ${point} the clock jumps`;
  return kind === 'fails' ? `${point} fails` : `the process ${kind.replace('-', ' ')} ${point}`;
}
