import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeBookings } from '../../../src/sandbox/bookings/made-bookings.js';
import { csvFormat, type MadeRecord } from '../../../src/sandbox/bookings/record-formats.js';
import { account } from '../../../src/sandbox/common/account.js';
import type { FaultPlan } from '../../../src/sandbox/common/faults.js';
import type { World } from '../../../src/sandbox/world/world.js';
import type { BuiltCommands } from '../built-commands.js';
import type { FastClock } from '../fast-clock.js';
import { createCaseWork } from './case-work.js';
import type { PlannedDay } from './plan.js';

export interface MonthParts {
  readonly folder: string;
  readonly commands: BuiltCommands;
  readonly clock: FastClock;
  readonly world: World;
  /** Of the sandbox, which asks it for each call. */
  readonly faults: Faults;
  readonly outbox: string;
  /** Of the clock at night. */
  readonly speed: number;
}

export type Faults = { -readonly [Name in keyof FaultPlan]: FaultPlan[Name] };

type Request = Parameters<BuiltCommands['review']>[1];

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const changesADay = 6;
/** Nothing begins at a full minute: a moment earlier would be the minute before. */
export const secondsPastMs = 30_000;

/** Each night a sync and a run, each morning the e-mails and the cases. */
export async function liveThrough(days: readonly PlannedDay[], parts: MonthParts): Promise<void> {
  const { folder, commands, clock, world, faults, outbox, speed } = parts;
  /** By the real clock, three seconds and three tenths of one. */
  const [long, short] = [speed / 20, speed / 200];
  const known = new Set<string>();
  const work = createCaseWork(commands);
  const hoursAfter = (iso: string, hours: number) =>
    new Date(Date.parse(iso) + hours * hourMs + secondsPastMs).toISOString();
  const atNight = (iso: string) => clock.set(hoursAfter(iso, 26.5), speed);
  const inMorning = (iso: string) => clock.set(hoursAfter(iso, 32.5));

  await commands.run(['mappings', 'sync']);
  await commands.run(['export', 'request', '--email', account.email]);
  await commands.run(['export', 'fetch']);
  for (const day of days) {
    const records = [
      ...makeBookings({
        ...{ day: day.iso, count: day.bookings, seed: Date.parse(day.iso) / dayMs },
        wrongShare: day.wrong / day.bookings,
        world,
      }),
    ];
    await write(day, records);
    changeMappings(day);
    atNight(day.iso);
    await commands.run(['mappings', 'sync']);
    await reviewAsPlanned(day, records);
    inMorning(day.iso);
    await readEmails();
    await work();
  }

  /** After people have booked by what the service stated until then. */
  function changeMappings({ iso }: PlannedDay): void {
    for (let made = 0; made < changesADay; made += 1) world.change(Date.parse(iso) + 25 * hourMs);
  }

  function write({ iso }: PlannedDay, records: readonly MadeRecord[]): Promise<void> {
    const text = csvFormat.header + records.map(csvFormat.write).join('');
    return writeFile(join(folder, `bookings-${iso}.csv`), text, { mode: 0o600 });
  }

  /** Imports the e-mails that arrived since the last import. */
  async function readEmails(): Promise<void> {
    const names = (await readdir(outbox)).filter((name) => name.endsWith('.eml') && !known.has(name));
    for (const name of names) known.add(name);
    const paths = names.sort().map((name) => join(outbox, name));
    if (paths.length > 0) await commands.run(['verdicts', 'import', ...paths]);
  }

  function review({ iso, delivery }: PlannedDay, changes: Partial<Request> = {}): Promise<void> {
    return commands.review(iso, { ...{ mode: 'run', trigger: 'schedule', delivery }, ...changes });
  }

  async function withFaults(changes: Partial<FaultPlan>, action: () => Promise<void>): Promise<void> {
    Object.assign(faults, changes);
    await action();
    Object.assign(faults, { nextCall: () => undefined, nextResult: () => undefined });
  }

  async function reviewAsPlanned(day: PlannedDay, records: readonly MadeRecord[]): Promise<void> {
    const { iso, course } = day;
    switch (course) {
      case 'good':
      case 'dropped':
        return review(day);
      case 'called':
        return review(day, { trigger: 'hook' });
      case 'missing':
        return;
      case 'failed':
        return withFaults({ nextCall: isDown }, () => review(day));
      case 'replayed':
        await withFaults({ nextCall: isDown }, () => review(day));
        inMorning(iso);
        return review(day, { mode: 'replay', trigger: 'replay', reason: 'the service was down at night' });
      case 'refused':
        return withFaults({ nextCall: createPickyService() }, () => review(day));
      case 'unanswered':
        // By the fast clock: finds what is there.
        return withFaults({ nextResult: () => ({ kind: 'result-partial' }) }, () =>
          review(day, { resultTimeoutMinutes: long }),
        );
      case 'awaiting':
      case 'cancelled':
        await withFaults({ nextResult: () => ({ kind: 'result-missing' }) }, () =>
          review(day, { resultTimeoutMinutes: short }),
        );
        if (course === 'awaiting') return;
        inMorning(iso);
        return commands.run(['cancel', iso, '--reason', 'the agency corrects the day and sends it again']);
      case 'caught-up':
        atNight(new Date(Date.parse(iso) + dayMs).toISOString().slice(0, 10));
        return review(day);
      case 'topped-up':
        await write(day, records.slice(0, -Math.ceil(records.length / 8)));
        await review(day);
        await write(day, records);
        inMorning(iso);
        return review(day, { mode: 'late', trigger: 'replay', reason: 'late bookings of the branch office' });
    }
  }
}

const isDown: FaultPlan['nextCall'] = (operation) =>
  operation === 'by-body' ? { kind: 'status', status: 503 } : undefined;

/** Refuses every other call, so that some bookings are refused when they are sent one by one. */
function createPickyService(): FaultPlan['nextCall'] {
  let calls = 0;
  return (operation) => {
    if (operation !== 'by-body') return undefined;
    calls += 1;
    return calls % 2 === 0 ? { kind: 'refuse', statusCode: 2009 } : undefined;
  };
}
