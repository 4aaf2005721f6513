import { pause, startTimeLimit, untilAborted } from '../../base/abort.js';
import { describeError } from '../../base/safe-error.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { NormaliserFor } from '../../booking/normalise.js';
import type { BookingSource } from '../../booking/source.js';
import type { Mailbox } from '../../cases/mails/mailbox.js';
import type { Config } from '../../config/load.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { SourceParts } from '../../sources/common/kind.js';
import type { Archive } from '../../storage/archive.js';
import type { DayKeys } from '../../storage/day-keys.js';
import type { Spool } from '../../storage/spool.js';
import type { SftpServer } from '../../transports/sftp/sftp.js';
import { type Finding, findingsOf, type Part } from '../examination/finding.js';

/** The configuration, and the parts that it describes: each is opened when it is first asked for. */
export interface CheckedApp {
  readonly config: Config;
  /** The configuration file. */
  readonly file: string;
  /** Whose bookings are read. */
  readonly day: BusinessDay;
  readonly clock: () => number;
  /** For a test file. */
  readonly temporaryFolder: string;
  /** Its path, or its address without a password. */
  locateLedger(): Promise<string>;
  /** Undefined if there is none. Throws at once if it can't be used. */
  findLedger(): Promise<ReadOnlyLedger | undefined>;
  archive(): Archive;
  spool(): Spool;
  /** Undefined if nothing is encrypted. */
  keys(): DayKeys | undefined;
  sftp(): SftpServer;
  openSource(): Promise<{
    readonly source: BookingSource;
    readonly normaliserFor: NormaliserFor;
    readonly extraLabels: readonly string[];
  }>;
  readonly sourceParts: SourceParts;
  /** Undefined if none is configured. */
  openMailbox(): Promise<Mailbox | undefined>;
}

/** A check of one part. An adapter's error is its finding: its message says what to fix. */
export interface Check {
  readonly part: Part;
  /** How long it may take before it is stopped; 10 by default. */
  readonly seconds?: number;
  /** By default to every app. */
  appliesTo?(app: CheckedApp): boolean;
  look(app: CheckedApp, signal: AbortSignal): Promise<readonly Finding[]>;
}

/** A check that looks into the ledger, if there is one that can be used: another check says why it can't be. */
export function checkOfLedger(
  part: Part,
  look: (ledger: ReadOnlyLedger, app: CheckedApp) => Promise<readonly Finding[]>,
): Check {
  return {
    part,
    seconds: 30,
    async look(app) {
      const ledger = await app.findLedger().catch(() => undefined);
      return ledger ? look(ledger, app) : [];
    },
  };
}

/**
 * Makes all checks that apply, whatever the others find. Those of a group run concurrently, the groups one after the other.
 * Findings are told in order, as soon as they are known.
 *
 * @throws the signal's reason if it aborts, once all started checks have ended or were abandoned
 */
export async function lookAtAll(
  groups: readonly (readonly Check[])[],
  app: CheckedApp,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (finding: Finding) => void },
): Promise<void> {
  for (const group of groups) {
    signal.throwIfAborted();
    const looks = group
      .filter((check) => check.appliesTo?.(app) ?? true)
      .map(({ part, seconds = 10, look }) =>
        lookOnce({ part, seconds, look: (stopped) => look(app, stopped) }, signal),
      );
    const ended = Promise.allSettled(looks);
    try {
      for (const look of looks) for (const finding of await look) tell(finding);
    } finally {
      await ended;
    }
  }
}

interface Look {
  readonly part: Part;
  /** How long it may take before it is stopped. */
  readonly seconds: number;
  look(signal: AbortSignal): Promise<readonly Finding[]>;
}

/** How long a stopped check may take to clean up before it is abandoned. */
const graceMs = 3_000;

/**
 * Looks at a part in bounded time. What the part's adapter throws is a finding, too.
 *
 * @throws the signal's reason if it aborts
 */
export async function lookOnce(
  { part, seconds, look }: Look,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { wrong } = findingsOf(part);
  const limit = startTimeLimit(signal, seconds * 1000);
  const ended = new AbortController();
  const abandoned = untilAborted(limit.signal, ended.signal).then(() => pause(graceMs, ended.signal));
  try {
    const findings = await Promise.race([look(limit.signal), abandoned]);
    signal.throwIfAborted();
    if (findings) return findings;
  } catch (error) {
    signal.throwIfAborted();
    if (!limit.isOver()) return [wrong(describeError(error))];
  } finally {
    limit.stop();
    ended.abort();
  }
  return [wrong(`was not done within ${seconds} s`, 'Something does not respond. Try again later.')];
}
