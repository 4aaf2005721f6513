import type { App } from '../../jobs/app.js';
import { composeNotifier } from '../../jobs/notifications.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { startNotifier } from '../../src/notify/notifier.js';
import { wasCollectedEarly } from '../../src/rules/good-day.js';
import type { Notice } from '../../src/rules/notice.js';
import { isToBeAccepted, type Run } from '../../src/rules/run.js';
import { throughLife } from '../crash/life.js';
import type { Outside } from '../crash/outside.js';
import type { createChannels } from './channels.js';
import { addDays } from './guests.js';
import type { Heard, Item, SeenRun, Urgent } from './heard.js';
import type { TroubledLife } from './trouble.js';

interface TellingParts {
  readonly outside: Pick<Outside, 'clock' | 'random'>;
  readonly channels: ReturnType<typeof createChannels>;
  readonly heard: Heard[];
  /** Of the process that works now, and the ledger as it has it open. */
  readonly current: () => { readonly life: TroubledLife; readonly ledger: Ledger };
}

const runsRead = 100;

/** How people are told: what is to be told is looked for as at the end of each process. */
export function createTelling({ outside, channels, heard, current }: TellingParts) {
  const { clock, random } = outside;
  const known = new Map<string, string>();

  /** Notes the runs of a day as they are now. @param isSure whether the process goes on, which tells of them */
  async function noteRuns(app: App, day: string, isSure: boolean): Promise<void> {
    const { ledger } = current();
    const timeoutMs = app.config.file.resultTimeoutMinutes * 60_000;
    for (const run of (await ledger.runs.list({ day, limit: runsRead })).toReversed()) {
      const seen = see(run, { timeoutMs, isSure, timezone: app.config.timezone });
      const facts = JSON.stringify(seen);
      if (known.get(run.id) === facts) continue;
      known.set(run.id, facts);
      heard.push({ ...seen, at: clock() });
    }
  }

  function see(
    run: Run,
    given: { readonly timeoutMs: number; readonly isSure: boolean; readonly timezone: string },
  ): Omit<SeenRun, 'at'> {
    const { id, day, trigger, state, failure, counts, file, finishedAt } = run;
    const isDue = clock() >= (file?.triggeredAt ?? Infinity) + given.timeoutMs;
    const isOverdue = state === 'awaiting-result' && isDue;
    return {
      ...{ kind: 'run', day, run: id, trigger, state, code: failure?.code, finishedAt },
      affected: counts.affected ?? 0,
      // One that is written once more is the same.
      setAside: new Set(file?.setAside?.map(({ archivedAs }) => archivedAs)).size,
      isEarly: wasCollectedEarly(createBusinessDay(day, given.timezone), run),
      isToBeAccepted: isToBeAccepted(run, ['affected']),
      isOverdue: isOverdue ? (given.isSure ? 'yes' : 'perhaps') : 'no',
    };
  }

  async function listUrgent(app: App): Promise<readonly Urgent[]> {
    const today = app.today();
    const tomorrow = addDays(today, 1);
    const urgent: Urgent[] = [];
    const cases = await current().ledger.cases.list({ today });
    for (const { id, state, openBookings, inHouse, firstCheckIn, nextCheckIn } of cases) {
      if (openBookings === 0 || state === 'dismissed') continue;
      if (inHouse > 0 && firstCheckIn !== undefined) urgent.push({ case: id, on: firstCheckIn });
      if (nextCheckIn !== undefined && nextCheckIn <= tomorrow) urgent.push({ case: id, on: nextCheckIn });
    }
    return urgent;
  }

  return {
    noteRuns,

    /** What a process does at its end, and `serve` again and again. A dead one does nothing. */
    async tell(app: App, day: string): Promise<void> {
      const { life, ledger } = current();
      if (life.isOver) return;
      const struck = life.struck;
      await noteRuns(app, day, struck === undefined);
      const [at, urgent] = [clock(), await listUrgent(app)];
      life.beginTelling();
      const parts = composeNotifier(app, ledger);
      await startNotifier({
        ...{ ...parts, clock, random },
        channels: channels.open().map((channel) => throughLife(life, 'channel', channel, ['send'])),
        listChecks: () => ({ ...parts.listChecks(), measureFree: async () => [] }),
        compose(notices, name) {
          channels.noteComposed(name, notices.map(toItem));
          return parts.compose(notices, name);
        },
      }).close();
      const isWhole = !life.isOver && life.struck === struck;
      heard.push({ kind: 'checked', at, endedAt: clock(), isWhole, urgent });
    },
  };
}

function toItem({ event, stage, subject, severity, day, runId, raisedAt, facts }: Notice): Item {
  return { event, stage, subject, severity, day, run: runId, at: raisedAt, facts };
}
