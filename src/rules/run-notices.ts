import type { NewNotice, Severity } from './notice.js';
import { findRefusingPeer } from './peers.js';
import {
  hasDropped,
  isSilent,
  isToBeAccepted,
  mayCompleteDay,
  type Run,
  type VolumeComparison,
} from './run.js';
import type { Ending } from './step.js';
import { awaitsSource } from './try-again.js';
import { describeDrops } from './volume.js';

/** What people are told about runs. The ledger calls these functions in the transaction that changes a run. */

/** What a change of a run makes true, and the ending of an attempt that led to it. */
export function noticesOfRun(before: Run, after: Run, at: number, ending?: Ending): NewNotice[] {
  const found: NewNotice[] = [];
  if (after.state === 'failed' && (before.state !== 'failed' || before.failure?.code !== after.failure?.code))
    found.push(...noticesOfFailure(after, at));
  const { setAside = [] } = after.file ?? {};
  for (const { archivedAs, foreign, ours } of setAside.slice(before.file?.setAside?.length ?? 0))
    found.push({
      ...aboutRun(after, at),
      event: 'result-set-aside',
      subject: `${after.id}: ${archivedAs.slice(0, checksumEnd)}`,
      facts: { foreign, ours },
    });
  const { affected } = after.counts;
  // A complete result may name more than the incomplete one before it.
  if (affected !== null && affected > (before.counts.affected ?? 0))
    found.push({
      ...aboutRun(after, at),
      event: 'affected-found',
      subject: `${after.id}: ${affected}`,
      facts: { affected, unanswered: after.counts.unanswered },
    });
  if (after.state === 'succeeded' && before.state !== 'succeeded')
    found.push(...noticesOfImplausible(after, at));
  if (ending === 'overdue')
    found.push({
      ...aboutRun(after, at),
      event: 'result-late',
      subject: after.day,
      facts: { delivered: after.counts.delivered },
    });
  return found;
}

function noticesOfImplausible(run: Run, at: number): NewNotice[] {
  if (!run.implausible || !isToBeAccepted(run, ['affected'])) return [];
  const about = { ...aboutRun(run, at), subject: run.day };
  return [{ ...about, event: 'affected-implausible', facts: { ...run.implausible } }];
}

/** `foreign-` and a part of the checksum: the rest is a name that others gave. */
const checksumEnd = 20;

/**
 * A provider without any booking is silent, which is told once until it has some again; all other drops share one notice. It is a
 * problem of the day if the day as a whole has too few bookings: see `lastsOf`.
 */
export function noticesOfVolume(run: Run, drop: VolumeComparison, at: number): NewNotice[] {
  const silent = drop.drops.filter(isSilent);
  const others = drop.drops.filter((one) => !isSilent(one));
  const about = aboutRun(run, at);
  const { isLow = false, ...dropped } = drop;
  const { accepted, usual } = drop;
  return [
    ...(isLow
      ? [{ ...about, event: 'volume-low' as const, subject: run.day, facts: { accepted, usual } }]
      : []),
    ...(others.length > 0
      ? [
          {
            ...about,
            event: 'volume-dropped' as const,
            subject: hasDropped(drop) ? run.day : `providers on ${run.day}`,
            facts: { accepted, usual, drops: describeDrops({ ...dropped, drops: others }).join('; ') },
          },
        ]
      : []),
    ...silent
      .filter(({ silentSince }) => silentSince === undefined)
      .map(({ provider, usual }) => ({
        ...about,
        event: 'provider-silent' as const,
        subject: `${provider} on ${run.day}`,
        facts: { provider, usual },
      })),
  ];
}

function noticesOfFailure(run: Run, at: number): NewNotice[] {
  const { failure, counts } = run;
  const code = failure?.code ?? 'unknown';
  const facts = {
    code,
    message: failure?.message ?? '',
    trigger: run.trigger,
    accepted: counts.accepted,
    delivered: counts.delivered,
    pending: counts.pending,
  };
  const about = { ...aboutRun(run, at), subject: run.day, facts };
  const peer = findRefusingPeer(code);
  return [
    { ...about, event: 'run-failed', severity: severityOf(run) },
    ...(code === 'result-incomplete'
      ? [
          {
            ...about,
            event: 'result-incomplete' as const,
            facts: { ...facts, unanswered: counts.unanswered },
          },
        ]
      : []),
    ...(peer
      ? [
          {
            ...about,
            event: 'credentials-refused' as const,
            subject: peer,
            facts: { code, message: facts.message },
          },
        ]
      : []),
  ];
}

/**
 * Only a warning where a retry follows: a late source is tried until it is given up, and the current day until the
 * night.
 */
function severityOf(run: Run): Severity {
  if (!mayCompleteDay(run)) return 'warning';
  return awaitsSource(run) ? 'warning' : 'critical';
}

function aboutRun({ id, day }: Run, at: number) {
  return { day, runId: id, raisedAt: at };
}
