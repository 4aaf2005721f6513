import { createHash } from 'node:crypto';
import type { ReadOnlyLedger } from '../ledger/ledger.js';

import type { Silence } from '../review/verdict.js';
import { type DayScore, scoreDay } from './day-scores.js';
import { readNamedPairs } from './outcomes.js';

/** The scores of days, each read from its stored bookings once, and again when something about it has changed. */
export interface ScoreMemory {
  /** @param days YYYY-MM-DD, ascending */
  read(days: readonly string[], options: MemoryOptions): Promise<readonly DayScore[]>;
}

interface MemoryOptions {
  readonly signal: AbortSignal;
  /** Undefined where silence means nothing. */
  readonly silence?: Silence | undefined;
}

export interface MemoryParts {
  readonly ledger: ReadOnlyLedger;
  /** Lets others work between two days; reading a day does so between its batches. */
  readonly giveWay: () => Promise<unknown>;
}

/** More than any range that can be requested. */
const daysRemembered = 1_100;
const nothing: DayScore['providers'] = new Map();

export function createScoreMemory({ ledger, giveWay }: MemoryParts): ScoreMemory {
  const remembered = new Map<string, { readonly mark: string; readonly score: DayScore }>();
  return {
    async read(days, { signal, silence }) {
      const [from, to] = [days.at(0), days.at(-1)];
      if (from === undefined || to === undefined) return [];
      const namedPairs = await readNamedPairs(ledger);
      const common = hash([[...namedPairs.body], silence?.afterMs, silence?.brokenAt]);
      const marked = await ledger.runs.markDays({ from, to });
      const marks = new Map(
        marked.map(({ day, mark, finishedAt }) => [
          day,
          `${mark} ${common} ${listSilent(finishedAt, silence)}`,
        ]),
      );
      const scores: DayScore[] = [];
      for (const day of days) {
        const mark = marks.get(day);
        const known = remembered.get(day);
        if (mark === undefined) scores.push({ day, providers: nothing });
        else if (known?.mark === mark) scores.push(known.score);
        else {
          signal.throwIfAborted();
          // A day of which nothing was delivered has no batch.
          await giveWay();
          const score = await scoreDay({ ledger, signal }, day, { namedPairs, silence });
          remember(day, mark, score);
          scores.push(score);
        }
      }
      return scores;
    },
  };

  function remember(day: string, mark: string, score: DayScore): void {
    // The oldest entry goes first.
    remembered.delete(day);
    remembered.set(day, { mark, score });
    const [oldest] = remembered.keys();
    if (remembered.size > daysRemembered && oldest !== undefined) remembered.delete(oldest);
  }
}

/** For which runs silence has lasted long enough by now. */
function listSilent(finishedAt: readonly number[], silence: Silence | undefined): string {
  if (!silence) return '';
  return finishedAt.map((at) => Number(silence.now - at >= silence.afterMs)).join('');
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}
