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
  const { implausible } = after;
  const hasSucceeded = after.state === 'succeeded' && before.state !== 'succeeded';
  if (hasSucceeded && implausible && isToBeAccepted(after, ['affected']))
    found.push({
      ...aboutRun(after, at),
      event: 'affected-implausible',
      subject: after.day,
      facts: { ...implausible },
    });
  if (ending === 'overdue')
    found.push({
      ...aboutRun(after, at),
      event: 'result-late',
      subject: after.day,
      facts: { delivered: after.counts.delivered },
    });
  return found;
}

/** `foreign-` and a part of the checksum: the rest is a name that others gave. */
const checksumEnd = 20;

/**
 * A provider without any booking is silent, which is told once until it has some again; all other drops share one notice. It is a
 * problem of the day if the day as a whole has too few bookings: see `lastsOf`.
 */
export function noticesOfVolume(run: Run, drop: VolumeComparison, at: number): NewNotice[] {
  const others = drop.drops.filter((one) => !isSilent(one));
  const about = aboutRun(run, at);
  const { isLow = false, accepted, usual } = drop;
  const found: NewNotice[] = [];
  if (isLow) found.push({ ...about, event: 'volume-low', subject: run.day, facts: { accepted, usual } });
  if (others.length > 0)
    found.push({
      ...about,
      event: 'volume-dropped',
      subject: hasDropped(drop) ? run.day : `providers on ${run.day}`,
      facts: { accepted, usual, drops: describeDrops({ ...drop, isLow: false, drops: others }).join('; ') },
    });
  for (const { provider, usual, silentSince } of drop.drops.filter(isSilent))
    if (silentSince === undefined)
      found.push({
        ...about,
        event: 'provider-silent',
        subject: `${provider} on ${run.day}`,
        facts: { provider, usual },
      });
  return found;
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
  const found: NewNotice[] = [{ ...about, event: 'run-failed', severity: severityOf(run) }];
  if (code === 'result-incomplete')
    found.push({
      ...about,
      event: 'result-incomplete',
      facts: { ...facts, unanswered: counts.unanswered },
    });
  if (peer)
    found.push({
      ...about,
      event: 'credentials-refused',
      subject: peer,
      facts: { code, message: facts.message },
    });
  return found;
}

/**
 * Only a warning where a retry follows: a late source is tried until it is given up, and the current day until the
 * night.
 */
function severityOf(run: Run): Severity {
  return !mayCompleteDay(run) || awaitsSource(run) ? 'warning' : 'critical';
}

function aboutRun({ id, day }: Run, at: number) {
  return { day, runId: id, raisedAt: at };
}
