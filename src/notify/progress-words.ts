import { formatBytes, formatCount, formatCountOf, formatDuration, formatInstant } from '../base/format.js';
import { describeError } from '../base/safe-error.js';
import type { WatchEvent } from '../cases/follow-mappings.js';
import type { MappingSync } from '../ledger/mappings.js';
import type { ExportEvent } from '../mappings/export/await-export.js';
import type { SyncEvent } from '../mappings/sync-events.js';
import type { ReviewEvent } from '../review/events.js';
import { countPlanned } from '../rules/file-chain.js';
import type { Run } from '../rules/run.js';
import { describeDrops, nameDrops } from '../rules/volume.js';
import { describeFilterWarning } from '../rules/where-report.js';

function formatWait(milliseconds: number): string {
  return milliseconds < 1_000 ? 'a moment' : formatDuration(milliseconds);
}

export function describeOpened(run: Run, isResumed: boolean): string {
  const what = isResumed ? 'resuming' : 'starting';
  return `${run.day}: ${what} run ${run.id} by ${run.delivery}${run.topsUp ? ', for late bookings' : ''}`;
}

/** The day's suspects, as soon as they are known: a result may take hours. Undefined if there are none. */
export function describeSuspects({ suspects }: Run): string | undefined {
  return suspects ? formatCountOf(suspects, 'suspect') : undefined;
}

/** Each step of a file delivery is a milestone; batches are only counted. */
export function describeMilestone({
  step,
  outcome,
  evidence,
}: ReviewEvent & { type: 'step-ended' }): string | undefined {
  if (step.kind === 'batch') return undefined;
  if (step.kind === 'await-result' && outcome !== 'done') return `waiting for the result (${evidence.code})`;
  return outcome === 'done' ? `${step.name}: done` : `${step.name}: ${outcome} (${evidence.code})`;
}

function describeNotice({ notice, run }: ReviewEvent & { type: 'source-notice' }): string {
  return notice.kind === 'absent-column'
    ? `the source has no column ${notice.column}: nothing of it is kept (source.keep)`
    : describeFilterWarning(notice, run.day);
}

/** Undefined for an event that needs no words. */
export function describe(event: ReviewEvent, now: number): string | undefined {
  switch (event.type) {
    case 'run-opened':
      return describeOpened(event.run, event.isResumed);
    case 'collecting':
      return `collecting: ${formatCountOf(event.read, 'record')} read`;
    case 'source-notice':
      return describeNotice(event);
    case 'no-review-file':
      return `no booking can be in the review file: all ${formatCountOf(event.posted, 'booking')} go by body, which brings no result`;
    case 'volume-dropped':
    case 'volume-low':
      return `${nameDrops(event.volume)}: ${describeDrops(event.volume).join('; ')}`;
    case 'accepted':
      return `${event.run.day} is accepted with its ${event.kind === 'volume' ? 'few bookings' : 'many affected bookings'}; nothing is sent`;
    case 'collected': {
      const steps = formatCountOf(countPlanned(event.run), 'step');
      const collected = `collected: ${formatCountOf(event.run.counts.accepted, 'booking')} in ${steps}`;
      const suspects = describeSuspects(event.run);
      return suspects === undefined ? collected : `${collected}, ${suspects}`;
    }
    case 'step-ended':
    case 'watched': {
      const { delivered, refused, accepted } = event.run.counts;
      return `delivering: ${formatCount(delivered + refused)} of ${formatCountOf(accepted, 'booking')}`;
    }
    case 'transferring':
      return `${event.step.name}: ${formatBytes(event.done)} of ${formatBytes(event.total)}`;
    case 'holding-off':
      return `${event.cause === 'asked' ? 'the service asked for a pause' : 'no call succeeds'} (${event.code}): waiting ${formatWait(event.until - now)}`;
    case 'waiting-for-day':
      return `${event.day} is in use by another process: waiting for it`;
    case 'superseded':
      return `${event.step} was taken over by another process`;
    case 'faulted':
      return `${event.step ?? 'the work'} broke off: ${describeError(event.error)}; it will be tried again`;
    case 'queue-away':
      return `the queue at ${event.address} does not answer (${event.reason}): waiting for it`;
    case 'queue-back':
      return 'the queue is back';
    case 'queue-given-up':
      return `giving up: ${describeError(event.error)}`;
    case 'stopping':
      return `stopping: waiting at most ${formatDuration(event.graceMs)} for the steps in progress`;
    case 'source-late':
      return `the source of ${event.run.day} is not there yet: it is tried again until ${formatInstant(event.until)}`;
    case 'source-still-missing':
      return `the source of ${event.run.day} is still missing`;
    case 'step-claimed':
    case 'working':
    case 'settled':
    // The command says it at its end.
    case 'review-broke-off':
      return undefined;
  }
}

export function describeSync(event: SyncEvent): string {
  const { sync } = event;
  switch (event.type) {
    case 'sync-begun':
      return describeBegun(sync, event.isResumed);
    case 'page-stored':
      return `  ${formatCountOf(sync.counts.read, 'mapping')} read, ${formatCountOf(sync.counts.pages, 'page')}`;
    case 'sync-restarted':
      return `  the service no longer knows the resume key (${event.code}): starting over`;
    case 'sync-ended-at-key':
      return `  the service refused the resume key after the same page again (${event.code}), and nothing was new: the sync counts as complete`;
    case 'pages-shortened':
      return `  the service answers no longer pages: ${formatCountOf(event.limit, 'mapping')} each from now on`;
    case 'mappings-skipped':
      return `  ${formatCountOf(event.count, 'mapping')} of a page skipped: ${event.reason} (mappings stats lists them)`;
  }
}

function describeBegun({ since, scope, counts }: MappingSync, isResumed: boolean): string {
  const what = scope === '' ? 'all providers' : scope;
  return isResumed
    ? `mappings of ${what}: resuming the interrupted sync after ${formatCountOf(counts.read, 'mapping')}`
    : `mappings of ${what}: changes since ${formatInstant(since)}`;
}

export function describeExport(event: Exclude<ExportEvent, { type: 'downloading' }>): string {
  switch (event.type) {
    case 'waiting': {
      const where = event.folder === '' ? 'the SFTP root' : event.folder;
      const since = event.newerThan === undefined ? '' : ` from ${formatInstant(event.newerThan)} on`;
      return `looking in ${where} for an export${since}`;
    }
    case 'sighted':
      return `  export ${event.set.id} is there; waiting until it no longer changes`;
    case 'archived':
      return `  ${event.name} is in the archive`;
    case 'held-off':
      return `  ${event.reason}; again in ${formatDuration(event.delayMs)}`;
  }
}

export function describeWatch(event: WatchEvent): string | undefined {
  switch (event.type) {
    case 'searching-stays':
      return `looking for current and upcoming stays: ${formatCount(event.runs)} of ${formatCountOf(event.of, 'run')} read`;
    case 'moves-checked':
      return `${formatCountOf(event.checkedMoves, 'move')} compared, ${formatCountOf(event.findings, 'finding')}`;
    case 'mappings-watched':
      return undefined;
  }
}
