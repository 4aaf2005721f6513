import { toHistory } from '../cases/booking-history.js';
import type { ErasedGuest } from '../review/erasures.js';
import type { ErasedPlace, LeftPlace } from '../review/guests/erase-guest.js';
import type { Trace } from '../review/history.js';
import type { Remains } from '../review/retention.js';
import type { DueDays, DueRun } from '../review/stored/retention.js';
import { readFields } from '../review/stored/stored-line.js';
import { formatCountOf } from '../text/format.js';

/** What a ledger knows about a booking, with the guest's name: for the guest, not for the screen of an operator. */
export function toGuestHistory(trace: Trace): object {
  const history = toHistory(trace, { withAnswers: false });
  if (trace.kind === 'booking') return { ...history, booking: readFields(trace.line, trace.form) };
  const { place, reason, field, value } = trace;
  return { ...history, rejected: { place, reason, ...(field && { field }), ...(value && { value }) } };
}

export interface Purge extends DueDays {
  readonly dryRun: boolean;
  readonly runs: readonly DueRun[];
  readonly records: readonly { readonly runId: string; readonly day: string }[];
  /** Runs whose names could not be removed, because their day is being worked on. */
  readonly left: readonly { readonly runId: string; readonly day: string }[];
  /** Bytes of removed data that are still in the ledger's files. */
  readonly remains: Remains | null;
}

export function renderPurge(purge: Purge): string {
  const { dryRun, namesBefore, recordsBefore, runs, records, left } = purge;
  const verb = dryRun ? 'would be removed' : 'removed';
  const lines = [
    `guest names of days before ${namesBefore}: ${verb} from ${formatCountOf(runs.length, 'run')}`,
    ...runs.map(({ day, runId, archived, spooled }) => {
      const files = [...archived, ...spooled];
      return `  ${day}  run ${runId}${files.length > 0 ? `, with ${files.join(', ')}` : ''}`;
    }),
    `references and verdicts of days before ${recordsBefore}: ${verb} from ${formatCountOf(records.length, 'run')}`,
    ...records.map(({ day, runId }) => `  ${day}  run ${runId}`),
    ...(left.length > 0 ? ['not removed, because the day is being worked on; purge again later:'] : []),
    ...left.map(({ day, runId }) => `  ${day}  run ${runId}`),
    ...(dryRun ? [] : [describeRemains(purge)]),
  ];
  return `${lines.join('\n')}\n`;
}

/** What an erasure changed, with the checksums before and after, by which `verify` accepts the changes. */
export interface EraseReceipt {
  readonly at: string;
  readonly reason: string;
  readonly all: boolean;
  readonly dryRun: boolean;
  readonly remembered: readonly Pick<ErasedGuest, 'kind' | 'hash'>[];
  readonly erased: readonly ErasedPlace[];
  readonly left: readonly LeftPlace[];
  /** Bytes of removed data that are still in the ledger's files. */
  readonly remains: Remains | null;
}

export function renderErasure(receipt: EraseReceipt): string {
  const { at, reason, all, dryRun, remembered, erased, left } = receipt;
  const what = all ? 'name, reference and stay' : 'name';
  const lines = [
    dryRun ? `${what} would be erased:` : `${what} erased at ${at}; reason: ${reason}`,
    ...erased.flatMap(({ day, runId, place, name, sha256Before, sha256After }) => [
      `  ${day}  run ${runId}  ${place}: ${name}${sha256After === undefined ? ', removed' : ''}`,
      ...(sha256Before === undefined ? [] : [`    sha256 before: ${sha256Before}`]),
      ...(sha256After === undefined ? [] : [`    sha256 after:  ${sha256After}`]),
    ]),
    ...(erased.length === 0 ? ['  nothing is kept'] : []),
    ...(dryRun ? [] : remembered.map(({ kind, hash }) => `remembered, ${kind}: ${hash}`)),
    ...(left.length > 0 ? ['left:'] : []),
    ...left.map(({ day, runId, place, why }) => `  ${day}  run ${runId}  ${place}: ${why}`),
    ...(dryRun ? [] : [describeRemains(receipt)]),
  ];
  return `${lines.join('\n')}\n`;
}

function describeRemains({ remains }: Pick<EraseReceipt, 'remains'>): string {
  return remains === null
    ? "no bytes of removed data remain in the ledger's files"
    : `bytes of removed data may remain in the ledger's files until ${remains.until}: ${remains.why}`;
}
