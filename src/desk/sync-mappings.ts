import * as z from 'zod';
import { pause } from '../async/abort.js';
import { syncToJson } from '../ledger/mappings.js';
import { type Html, html } from '../text/html.js';
import { type DeskVisit, defineAction, defineLive } from './page.js';
import { renderFacts, showInstant } from './parts.js';

const path = '/mappings/sync';
const lookEveryMs = 1_000;

/** What `hotel-review mappings sync` does. */
export const syncMappings = defineAction({
  path,
  permission: 'operate',
  title: 'Sync the mappings',
  input: z.object({}),
  form: z.object({}),
  reason: 'optional',
  async preview(_, visit) {
    const { latest, state } = await readSync(visit);
    const content = renderSync({ latest, state }, visit);
    return {
      lines: ['The local copy gets all changes since the last sync, from the service.'],
      details: state.isRunning ? html`<div data-live="${path}/events">${content}</div>` : content,
      data: { ...state, latest: latest ? syncToJson(latest) : null },
      refusal: state.isRunning ? 'A sync is running.' : undefined,
      button: latest && latest.endedAt === undefined ? 'Continue the sync' : 'Sync now',
      back: '/mappings',
    };
  },
  audit: () => ({ action: 'sync' }),
  async perform(_, __, { desk: { operations } }) {
    await operations.sync.start();
    return { message: 'The sync has begun.', next: path };
  },
});

/** The progress of the one that is running. */
export const syncProgress = defineLive({
  path: `${path}/events`,
  permission: 'operate',
  input: z.object({}),
  async *follow(_, visit) {
    // The counts come from the ledger, so that they are also those of a sync in another process.
    for (;;) {
      const sync = await readSync(visit);
      yield renderSync(sync, visit);
      if (!sync.state.isRunning || visit.signal.aborted) return;
      await pause(lookEveryMs, visit.signal);
    }
  },
});

async function readSync({ desk: { ledger, operations } }: DeskVisit) {
  // First, so that what a sync that has just ended stored is read.
  const state = operations.sync.state();
  return { state, latest: await ledger.mappings.latestSync() };
}

type ReadSync = Awaited<ReturnType<typeof readSync>>;

/** The last sync: one that is running, or ended, or was cut off. */
function renderSync({ latest, state: { isRunning, failure } }: ReadSync, visit: DeskVisit): Html {
  const problem =
    failure !== undefined &&
    html`<p class="bad">The last sync that was started here ended early: ${failure}</p>`;
  if (!latest)
    return html`${problem}<p class="empty">There was no sync yet: the copy is empty. The first one reads all mappings.</p>`;
  const { at, endedAt, counts } = latest;
  const unfinished = isRunning
    ? 'not yet: it is running'
    : 'not yet: another process is performing it, or the next sync will resume it';
  return html`${problem}<div class="card">${renderFacts([
    ['The last sync began', showInstant(at, visit)],
    ['It ended', endedAt === undefined ? unfinished : showInstant(endedAt, visit)],
    ['Pages', counts.pages],
    ['Read', counts.read],
    ['Added', counts.added],
    ['Moved to another master hotel', counts.moved],
    ['Changed otherwise', counts.updated],
    ['Deleted', counts.deleted],
    ['Could not be read', counts.skipped],
  ])}</div>`;
}
