import { pause, startTimeLimit, untilAborted } from '../base/abort.js';
import { wrapText } from '../base/format.js';
import { describeError } from '../base/safe-error.js';
import type { BusinessDay } from '../booking/business-day.js';
import type { NormaliserFor } from '../booking/normalise.js';
import type { BookingSource } from '../booking/source.js';
import type { Mailbox } from '../cases/mails/mailbox.js';
import type { Config } from '../config/load.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { SourceParts } from '../sources/common/kind.js';
import type { Archive } from '../storage/archive.js';
import type { KeyFolder } from '../storage/day-keys.js';
import type { Spool } from '../storage/spool.js';
import type { SftpServer } from '../transports/sftp/sftp.js';

/** What doctor checks, in the order of its report. */
export const parts = [
  'configuration',
  'file-modes',
  'clock',
  'source',
  'service',
  'sftp',
  'ledger',
  'queue',
  'archive',
  'spool',
  'mappings',
  'verdicts',
  'notify',
  'users',
  'keys',
  'disk',
] as const;

export type Part = (typeof parts)[number];

/** `warning`: a run works, but a person should look at this. `wrong`: a run would fail. */
type FindingVerdict = 'ok' | 'warning' | 'wrong';

/** One result of a check. It holds no secret, no guest's name, and nothing the service said. */
export interface Finding {
  readonly part: Part;
  readonly verdict: FindingVerdict;
  /** What was tried, and the outcome. Lists take several lines. */
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** Creates the findings of one part. */
export function findingsOf(part: Part) {
  const make =
    (verdict: FindingVerdict) =>
    (message: string, advice?: string): Finding => ({
      part,
      verdict,
      message,
      ...(advice !== undefined && { advice }),
    });
  return { ok: make('ok'), warning: make('warning'), wrong: make('wrong') };
}

const verdictWidth = 'warning'.length + 2;
const partWidth = Math.max(...parts.map((part) => part.length)) + 2;
const messageColumn = verdictWidth + partWidth;

/** A finding for people, in 80 columns: verdict, part and message, with the advice below. */
export function renderFinding({ part, verdict, message, advice }: Finding): string {
  const lines = message.split('\n').flatMap((line) => wrapText(line, messageColumn));
  const [first = '', ...others] = lines;
  const head = `${verdict.padEnd(verdictWidth)}${part.padEnd(partWidth)}${first.trimStart()}`;
  const below = advice === undefined ? [] : wrapText(advice, messageColumn + 2);
  return [head, ...others, ...below].join('\n');
}

/** The last line: how many of each verdict, and what is wrong. */
export function renderCount(findings: readonly Finding[]): string {
  const count = (wanted: FindingVerdict) => findings.filter(({ verdict }) => verdict === wanted).length;
  const warnings = count('warning');
  const wrongParts = new Set(findings.filter(({ verdict }) => verdict === 'wrong').map(({ part }) => part));
  const which = wrongParts.size > 0 ? `: ${[...wrongParts].join(', ')}` : '';
  return `${count('ok')} ok, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}, ${count('wrong')} wrong${which}`;
}

/** The source, and how its records are read. */
export interface SourceReading {
  readonly source: BookingSource;
  readonly normaliserFor: NormaliserFor;
  /** The labels of extra columns. */
  readonly extraLabels: readonly string[];
}

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
  keys(): KeyFolder | undefined;
  sftp(): SftpServer;
  openSource(): Promise<SourceReading>;
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
        lookOnce(part, seconds, (stopped) => look(app, stopped), signal),
      );
    const ended = Promise.allSettled(looks);
    try {
      for (const look of looks) for (const finding of await look) tell(finding);
    } finally {
      await ended;
    }
  }
}

/** How long a stopped check may take to clean up before it is abandoned. */
const graceMs = 3_000;

/**
 * Looks at a part in bounded time. What the part's adapter throws is a finding, too.
 *
 * @param seconds how long it may take before it is stopped
 * @throws the signal's reason if it aborts
 */
export async function lookOnce(
  part: Part,
  seconds: number,
  look: (signal: AbortSignal) => Promise<readonly Finding[]>,
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
