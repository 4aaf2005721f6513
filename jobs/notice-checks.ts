import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Config } from '../src/config/load.js';
import type { CheckParts } from '../src/notifications/check-notices.js';
import { findJudgedDays, judgeDeadlines } from '../src/notifications/deadlines.js';
import { findDueDigest } from '../src/notifications/morning-digest.js';
import type { NewNotice } from '../src/notifications/notice.js';
import type { NoticeLedger } from '../src/notifications/notice-store.js';
import { createSlots } from '../src/schedule/slots.js';
import { clock } from './clock.js';

/** What the checks for time-based notices need: the settings that decide, and where to look. */
export function listChecks(config: Config, ledger: NoticeLedger): CheckParts {
  const { timezone, deadline, notify } = config;
  const { notices } = ledger;
  const digestTimes = notify.filter(({ on }) => on.includes('morning-digest')).map(({ at }) => at);
  return {
    ledger,
    timezone,
    clock,
    copy: findStaleBound(config, clock()),
    exportPatienceMs: config.file.resultTimeoutMinutes * 60_000,
    measureFree: () => measureFree(config),
    async findLateDays(now: number): Promise<readonly string[]> {
      if (deadline === undefined) return [];
      const countedFrom = await notices.noteFirst('deadline', now);
      const reviewedDays = await ledger.listReviewedDays(findJudgedDays({ timezone, now }));
      const { late } = judgeDeadlines({ deadline, timezone, now, countedFrom, reviewedDays });
      return late.map(({ day }) => day);
    },
    async findDigest(now: number): Promise<NewNotice | undefined> {
      const [at] = digestTimes.sort();
      if (at === undefined) return undefined;
      const countedFrom = await notices.noteFirst('morning-digest', now);
      const due = findDueDigest({ at, now, countedFrom, timezone });
      return due && { event: 'morning-digest', subject: due.date, day: due.day, facts: {}, raisedAt: now };
    },
  };
}

/** The disks that a run writes to; one that does not exist yet is left out. */
async function measureFree({ ledger, archive, file }: Config) {
  const places = {
    'the ledger': 'path' in ledger ? dirname(ledger.path) : undefined,
    'the archive': 'path' in archive ? archive.path : undefined,
    'the spool': file.spool,
  };
  // Processes on several machines may share any other ledger.
  const where = 'path' in ledger ? '' : ` on ${hostname()}`;
  const measured = await Promise.all(
    Object.entries(places).map(async ([place, path]) => {
      const found = path === undefined ? undefined : await statfs(path).catch(() => undefined);
      return found ? [{ place: `${place}${where}`, bytes: found.bavail * found.bsize }] : [];
    }),
  );
  return measured.flat();
}

/**
 * The instant up to which the copy of the mappings must be complete: it is stale after two slots without a complete sync.
 * Undefined if nothing keeps it up to date.
 */
function findStaleBound(
  { mappings: { cron }, timezone }: Config,
  now: number,
): { readonly completeUntil: number } | undefined {
  const slots = cron === undefined ? undefined : createSlots(cron, timezone);
  const last = slots?.last(new Date(now));
  const before = last && slots?.last(new Date(last.getTime() - 1));
  return before && { completeUntil: before.getTime() };
}
