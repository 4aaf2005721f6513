import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { LivedDay } from './judge.js';
import { beginLife, type Death, type Life } from './life.js';
import { readOutcome } from './outcome.js';
import { type BegunStep, createOutside } from './outside.js';
import { composeProcess, day } from './process.js';
import type { Scenario } from './scenarios.js';
import { createServiceDouble } from './service-double.js';
import { createSftpDouble } from './sftp-double.js';

/** A kind of ledger. */
export interface Engine {
  /** Its commits are made at once, one after the other; otherwise two steps must not overlap. */
  readonly commitsAtOnce: boolean;
  /** A place for the ledger of one day. */
  openPlace(folder: string): Promise<LedgerPlace>;
  /** Makes each commit a point of the current life, until the returned function is called. */
  countCommits(current: () => CurrentLife): () => void;
}

export interface CurrentLife {
  readonly life: Life;
  onCommit(): void;
}

export interface LedgerPlace {
  /** As the setting `ledger` has it. */
  readonly address: string;
  open(clock: () => number): Ledger;
  /** After a death: ends what only time would end. Returns the step that had begun and not ended, if any. */
  bury(): Promise<BegunStep | undefined>;
  remove(): Promise<void>;
}

/** The step that is running, with the lines of each of its batches. A trigger is about all lines of the file. */
export const selectBegun = (schema = '') =>
  `SELECT name, attempts, first, steps.bookings, lines FROM ${schema}steps AS steps
   LEFT JOIN ${schema}batches AS batches ON batches.run = steps.run AND (
     (batches.stream = steps.stream AND batches.batch = steps.batch) OR (steps.name = 'trigger' AND batches.stream = 'file'))
   WHERE state = 'running' ORDER BY batches.batch`;

/** Reads its rows; undefined for none. */
export function toBegunStep(rows: readonly Readonly<Record<string, unknown>>[]): BegunStep | undefined {
  const [row] = rows;
  if (!row) return undefined;
  const all = rows.flatMap(({ lines }) => String(lines ?? '').match(/BR-\d+/g) ?? []);
  const [first, bookings] = [Number(row.first ?? 0), Number(row.bookings)];
  return {
    name: String(row.name),
    attempt: Number(row.attempts),
    references: all.slice(first, first + bookings),
  };
}

/** In memory where possible: a process that dies loses nothing that it has written. */
export const parentFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const startsAt = Date.parse('2026-11-21T02:30:00Z');
const morning = Date.parse('2026-11-21T14:30:00Z');
/**
 * When nobody can be at work any more: claims of messages are not renewed, and a clock may have been ahead.
 */
const longestLeaseMs = 900_000;

/**
 * A death, how long it takes until somebody runs the day again, and how far the clock of the dead process was
 * ahead.
 */
export interface PlannedDeath extends Death {
  readonly awayMs: number;
  readonly aheadMs: number;
}

export interface Lived extends LivedDay {
  /** The names of the first life's points. */
  readonly points: readonly string[];
  /** How many of the deaths came about. */
  readonly deaths: number;
}

/**
 * Lives a day: a run at night and another one in the morning, both once more after each death until there is
 * none left. A last run, for which nothing should be left to do, comes when nobody can be at work any more.
 */
export async function liveDay(
  engine: Engine,
  scenario: Scenario,
  deaths: readonly PlannedDeath[] = [],
): Promise<Lived> {
  const folder = mkdtempSync(join(parentFolder, 'crash-points-'));
  const outside = createOutside(startsAt);
  const sftp = createSftpDouble(outside);
  for (const [path, content] of Object.entries(scenario.earlier)) sftp.put(path, content);
  const service = createServiceDouble(outside, sftp, scenario.troubles);
  const place = await engine.openPlace(folder);
  let life = beginLife();
  let aheadMs = 0;
  /** As a process sees it. */
  const own = {
    ...outside,
    clock: () => outside.clock() + aheadMs,
    reach: (instant: number) => outside.reach(instant - aheadMs),
  };
  const stopCounting = engine.countCommits(() => ({
    life,
    onCommit: () => outside.log.push({ kind: 'commit' }),
  }));

  async function inProcess<Result>(work: (ledger: Ledger) => Promise<Result>): Promise<Result> {
    const ledger = place.open(own.clock);
    try {
      return await work(ledger);
    } finally {
      await ledger.close();
    }
  }
  const review = () =>
    inProcess((ledger) =>
      composeProcess({
        ...scenario,
        ...{ ledger, life, service, sftp, folder },
        outside: own,
        isSerial: !engine.commitsAtOnce,
      }).review(),
    );

  /** Returns false if the process died. */
  async function survive(): Promise<boolean> {
    try {
      await review();
      outside.reach(morning);
      await review();
    } catch (error) {
      if (!life.isOver) throw error;
    }
    return !life.isOver;
  }

  try {
    const lives: Life[] = [];
    for (const death of [...deaths, undefined]) {
      life = beginLife(death);
      aheadMs = death?.aheadMs ?? 0;
      lives.push(life);
      if (await survive()) break;
      outside.log.push({ kind: 'death', begun: await place.bury() });
      outside.reach(outside.clock() + (death?.awayMs ?? 0));
    }
    life = beginLife();
    aheadMs = 0;
    outside.reach(outside.clock() + longestLeaseMs);
    await review();
    const log = [...outside.log];
    const { references } = scenario;
    const [outcome, repeated] = await inProcess(async (ledger) => [
      await readOutcome({ ledger, log, folder, references, server: sftp.readAll() }),
      (await ledger.runs.latest(day.iso))?.counts.repeated ?? 0,
    ]);
    return {
      ...{ outcome, repeated, log, references },
      points: lives[0]?.points ?? [],
      deaths: lives.length - 1,
    };
  } finally {
    stopCounting();
    await place.remove();
    rmSync(folder, { recursive: true });
  }
}
