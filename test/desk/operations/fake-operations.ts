import type { BusinessDay } from '../../../src/booking/business-day.js';
import type { Operations } from '../../../src/desk/page.js';
import type { WantedDay } from '../../../src/ledger/wanted-days.js';
import type { Run } from '../../../src/rules/run.js';
import type { DayToReplay, ReplayRequest } from '../../../src/schedule/wanted-days.js';
import { someRun } from '../../review/some-run.js';

/** What the desk requested, in order. */
export type AskedOperation =
  | { readonly asked: 'run' | 'look'; readonly day: string; readonly options?: object }
  | { readonly asked: 'replay'; readonly days: readonly DayToReplay[]; readonly request: ReplayRequest }
  | { readonly asked: 'cancel'; readonly day: string; readonly reason: string }
  | {
      readonly asked: 'accept';
      readonly runId: string;
      readonly by: string;
      readonly kinds: readonly string[];
    }
  | { readonly asked: 'sync' }
  | { readonly asked: 'test'; readonly channel: string | undefined };

/** Operations that only record what is requested. */
export function fakeOperations(changes: Partial<Operations> = {}): {
  readonly operations: Operations;
  readonly asked: AskedOperation[];
} {
  const asked: AskedOperation[] = [];
  const runOf = (day: BusinessDay): Run => someRun({ id: `run-of-${day.iso}`, day: day.iso });
  const operations: Operations = {
    async run(day, options) {
      asked.push({ asked: 'run', day: day.iso, options });
      return { runId: runOf(day).id, run: runOf(day) };
    },
    async accept({ id }, accepts) {
      asked.push({ asked: 'accept', runId: id, ...accepts });
    },
    async look(day) {
      asked.push({ asked: 'look', day: day.iso });
      return { runId: runOf(day).id, run: runOf(day) };
    },
    async replay(days, request) {
      asked.push({ asked: 'replay', days, request });
      const wanted = days.map(
        ({ day }): WantedDay => ({
          ...{ day: day.iso, runId: runOf(day).id, mode: 'replay', trigger: 'replay', wantedAt: 0 },
        }),
      );
      return { wanted, left: [] };
    },
    async cancel(day, reason) {
      asked.push({ asked: 'cancel', day, reason });
      return { kind: 'abandoned', run: someRun({ state: 'cancelled' }), wasBeingWorkedOn: false };
    },
    sync: {
      start: async () => void asked.push({ asked: 'sync' }),
      state: () => ({ isRunning: false }),
    },
    channels: [{ name: 'ops', kind: 'slack' }],
    async testChannels(channel) {
      asked.push({ asked: 'test', channel });
      return [{ name: 'ops', kind: 'slack', message: null }];
    },
    ...changes,
  };
  return { operations, asked };
}
