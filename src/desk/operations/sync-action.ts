import * as z from 'zod';
import { pause } from '../../async/abort.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { MappingSync } from '../../ledger/mappings.js';
import { formatCount, formatLocalInstant } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { type DeskRoute, defineAction, defineLive } from '../page.js';
import { type Fact, renderFacts } from '../parts.js';
import type { Operations, SyncState } from './operations.js';

export interface SyncActionParts {
  readonly ledger: ReadOnlyLedger;
  readonly timezone: string;
  readonly operations: Pick<Operations, 'sync'>;
}

const path = '/mappings/sync';
const lookEveryMs = 1_000;

/** What `hotel-review mappings sync` does, and its progress. */
export function createSyncRoutes({ ledger, timezone, operations }: SyncActionParts): readonly DeskRoute[] {
  const { sync } = operations;
  const readLatest = () => ledger.mappings.latestSync();

  const action = defineAction({
    path,
    permission: 'operate',
    title: 'Sync the mappings',
    input: z.object({}),
    form: z.object({}),
    reason: 'optional',
    async preview() {
      const latest = await readLatest();
      const state = sync.state();
      const content = renderSync(latest, state, timezone);
      return {
        lines: ['The local copy gets all changes since the last sync, from the service.'],
        details: state.isRunning ? html`<div data-live="${path}/events">${content}</div>` : content,
        data: { ...state, latest: latest ? toData(latest) : null },
        ...(state.isRunning && { refusal: 'A sync is running.' }),
        button: latest && latest.endedAt === undefined ? 'Continue the sync' : 'Sync now',
        back: '/mappings',
      };
    },
    audit: (_, { reason }) => ({ action: 'sync', ...(reason !== '' && { details: { reason } }) }),
    async perform() {
      await sync.start();
      return { message: 'The sync has begun.', next: path };
    },
  });

  const progress = defineLive({
    path: `${path}/events`,
    permission: 'operate',
    input: z.object({}),
    async *follow(_, { signal }) {
      for (;;) {
        const state = sync.state();
        yield renderSync(await readLatest(), state, timezone);
        if (!state.isRunning || signal.aborted) return;
        await pause(lookEveryMs, signal);
      }
    },
  });
  return [action, progress];
}

function toData({ at, endedAt, counts }: MappingSync) {
  return {
    startedAt: new Date(at).toISOString(),
    finishedAt: endedAt === undefined ? null : new Date(endedAt).toISOString(),
    ...counts,
  };
}

function renderSync(
  sync: MappingSync | undefined,
  { isRunning, failure }: SyncState,
  timezone: string,
): Html {
  const problem =
    failure === undefined
      ? undefined
      : html`<p class="bad">The last sync that was started here ended early: ${failure}</p>`;
  if (!sync) return html`${problem}<p>There was no sync yet: the copy is empty.</p>`;
  const { at, endedAt, counts } = sync;
  const when = formatLocalInstant(at, timezone);
  const rows: readonly (readonly [string, number])[] = [
    ['Pages', counts.pages],
    ['Read', counts.read],
    ['Added', counts.added],
    ['Moved to another master hotel', counts.moved],
    ['Changed otherwise', counts.updated],
    ['Deleted', counts.deleted],
    ['Could not be read', counts.skipped],
  ];
  return html`${problem}<p>${describeSync(when, endedAt, isRunning, timezone)}</p>
<div class="card">${renderFacts(rows.map(([name, count]): Fact => [name, formatCount(count)]))}</div>`;
}

function describeSync(
  when: string,
  endedAt: number | undefined,
  isRunning: boolean,
  timezone: string,
): string {
  if (endedAt !== undefined)
    return `The last sync began at ${when} and ended at ${formatLocalInstant(endedAt, timezone)}.`;
  return isRunning
    ? `Running since ${when}.`
    : `The sync that began at ${when} has not ended: another process is performing it, or the next sync will resume it.`;
}
