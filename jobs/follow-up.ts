import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { answerWithin, pause, TooLateError } from '../src/base/abort.js';
import { formatCountOf } from '../src/base/format.js';
import { describeError } from '../src/base/safe-error.js';
import { followMappings } from '../src/cases/follow-mappings.js';
import { updateCases } from '../src/cases/update-cases.js';
import type { Ledger } from '../src/ledger/ledger.js';
import { type NewMasterHotel, readNewHotels } from '../src/ledger/mappings.js';
import { reportMissedCanaries } from '../src/review/canary.js';
import type { Canary } from '../src/rules/canary.js';
import { mayCompleteDay, type Run } from '../src/rules/run.js';
import { reportsFolder } from '../src/storage/archive.js';
import type { App } from './app.js';
import { clock } from './clock.js';
import { writeWhole } from './output-files.js';

type Copy = Ledger['mappings'];
/** The ids of master hotels that are not listed. */
type HeldHotels = ReadonlySet<number>;

/**
 * Writes the new hotels as NDJSON, one per line, without those that are held. Replaces an existing file, but only once it is
 * complete. They are new until they are noted as listed.
 *
 * @param halted aborts right before the process ends at once
 * @returns the number of the last of them; 0 if there is none
 */
export async function writeNewHotels(
  path: string,
  copy: Copy,
  held: HeldHotels,
  halted?: AbortSignal,
): Promise<number> {
  let last = 0;
  const write = async (file: FileHandle) => {
    for await (const page of readNewHotels(copy)) {
      await file.writeFile(renderLines(page, held));
      last = page.at(-1)?.number ?? last;
    }
  };
  await writeWhole(path, write, { force: true, halted });
  return last;
}

/**
 * Appends the new hotels to a file, as the same lines. Each page of them is noted as listed once it is on the disk, so a process
 * that dies loses none, and repeats at most the lines of one page.
 */
export async function appendNewHotels(
  path: string,
  copy: Copy,
  { held, clock }: { readonly held: HeldHotels; readonly clock: () => number },
): Promise<void> {
  // Two processes would append the same lines. Whoever is syncing now appends them afterwards.
  const hold = await copy.holdSync();
  if (!hold) return;
  try {
    for await (const page of readNewHotels(copy)) {
      const lines = renderLines(page, held);
      if (lines !== '') await appendLines(path, lines);
      await copy.markNewHotelsTold(page.at(-1)?.number ?? 0, clock());
    }
  } finally {
    await hold.release();
  }
}

async function appendLines(path: string, lines: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'a+', 0o600);
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read({ buffer: Buffer.alloc(1), position: Math.max(0, size - 1) });
    // Half a line, of a machine that lost its power, must not spoil the next one.
    const isTorn = size > 0 && buffer.toString() !== '\n';
    try {
      await file.appendFile(isTorn ? `\n${lines}` : lines);
      await file.sync();
    } catch (error) {
      // They are appended again: a full disk must not fill with halves of them.
      await file.truncate(size).catch(() => undefined);
      throw error;
    }
  } finally {
    await file.close();
  }
}

function renderLines(page: readonly NewMasterHotel[], held: HeldHotels): string {
  const listed = page.filter(({ serviceId }) => !held.has(serviceId));
  return listed.map((hotel) => `${JSON.stringify(toRecord(hotel))}\n`).join('');
}

function toRecord({ serviceId, providerName, providerHotelId, seenAt }: NewMasterHotel) {
  return {
    ServiceId: serviceId,
    ProviderName: providerName,
    ProviderHotelId: providerHotelId,
    seenAt: new Date(seenAt).toISOString(),
  };
}

/** When a case is escalated that was reported to the service but not corrected. */
const escalateAfterMs = 3 * 86_400_000;

/**
 * Opens cases for what runs found, and updates existing ones. It is not part of a run: if it fails, the run's outcome stands,
 * and the next run catches up.
 *
 * @param app `warn` gets a message when a part of the follow-up failed
 */
export function followUpRuns(app: App): Promise<void> {
  return attempt(app, 'the cases could not be updated', async () => {
    const { notify, signal } = app;
    const [ledger, today] = [await app.ledger(), app.today()];
    await updateCases({ ledger, today, escalateAfterMs, clock, notify, signal });
  });
}

/** Until the next look for verdicts that have become no cases yet. It holds no process: a source may wait for what can't happen any more. */
const pauseToFollow = (signal: AbortSignal) => pause(60_000, signal, { holdsProcess: false });

/** Repeats that until the signal aborts: a result may name guests who are on the way long before it is complete. */
export async function keepFollowingUp(app: App): Promise<void> {
  while (!app.signal.aborted) {
    await followUpRuns(app);
    await pauseToFollow(app.signal);
  }
}

/** The same while a run is worked on, whose own follow-up comes at its end. Returns what stops it. */
export function followUpMeanwhile(app: App): () => Promise<void> {
  const stopping = new AbortController();
  const signal = AbortSignal.any([app.signal, stopping.signal]);
  const following = pauseToFollow(signal).then(() => keepFollowingUp({ ...app, signal }));
  return () => {
    stopping.abort();
    return following;
  };
}

/** Like `followUpRuns`, and says how many cases were opened and how to list them. */
export async function followUpAndSay(app: App): Promise<void> {
  const opened = { cases: 0, bookings: 0 };
  const notify: App['notify'] = (event) => {
    if (event.type === 'case-opened') {
      opened.cases += event.cases;
      opened.bookings += event.bookings;
    }
    app.notify(event);
  };
  await followUpRuns({ ...app, notify });
  if (opened.cases === 0) return;
  app.say(
    `${formatCountOf(opened.cases, 'case')} opened, with ${formatCountOf(opened.bookings, 'booking')}: ${app.command('cases')}`,
  );
}

/** Reports the canaries that no e-mail named in time, and returns them. */
export async function followUpCanaries(app: App): Promise<readonly Canary[]> {
  let missed: readonly Canary[] = [];
  await attempt(app, 'the canaries could not be checked', async () => {
    missed = await reportMissedCanaries(await app.ledger(), clock(), app.notify);
  });
  return missed;
}

/** How often `serve` looks for canaries that no e-mail named in time. */
const canaryCheckMs = 60_000;

/** Repeats that until the signal aborts. */
export async function watchCanaries(app: App): Promise<void> {
  while (!app.signal.aborted) {
    await followUpCanaries(app);
    await pause(canaryCheckMs, app.signal);
  }
}

/** Corrects cases after a sync. */
export function followUpSync(app: App): Promise<void> {
  return attempt(app, 'the cases could not be updated', async () =>
    followMappings({
      ledger: await app.ledger(),
      today: app.today(),
      escalateAfterMs,
      clock,
      notify: app.notify,
    }),
  );
}

/** Appends the new master hotels to the configured file, if there is one. */
export async function followUpNewHotels(app: App): Promise<void> {
  const { newHotels: path } = app.config.mappings;
  if (path === undefined) return;
  const append = async () => appendNewHotels(path, (await app.ledger()).mappings, { held: new Set(), clock });
  await attempt(app, `${path} (mappings.newHotels) could not be written`, append, 'sync');
}

async function attempt(
  { warn }: App,
  failure: string,
  work: () => Promise<void>,
  next: 'run' | 'sync' = 'run',
): Promise<void> {
  try {
    await work();
  } catch (error) {
    warn(`${failure}: ${describeError(error)}; the next ${next} catches up`);
  }
}

/**
 * The run is over, and its process must not wait for an archive that does not answer. A stop does not shorten this: the page
 * would not be saved later.
 */
const saveMs = 10_000;

/**
 * Saves the page of the day as it was when a run of it succeeded or failed, in the archive as
 * `reports/DAY/RUN-STATE.html`. Each end of a run is saved once, failures by their code.
 *
 * @param app `warn` gets a message if the page could not be saved; the run's outcome stands
 */
export async function saveReport(app: App, run: Run): Promise<void> {
  const name = nameOf(run);
  if (name === undefined) return;
  try {
    await answerWithin(saveMs, savePage(app, run.day, name));
  } catch (error) {
    const why = error instanceof TooLateError ? 'it did not answer in time' : describeError(error);
    app.warn(`the report of ${run.day} could not be kept in the archive: ${why}`);
  }
}

/** Undefined for a run that has not ended, and for one that completes no day: there are dozens of those. */
function nameOf(run: Run): string | undefined {
  if (!mayCompleteDay(run)) return undefined;
  switch (run.state) {
    case 'succeeded':
      return `${run.id}-succeeded.html`;
    case 'failed':
      return `${run.id}-failed-${run.failure?.code ?? 'unknown'}.html`;
    case 'collecting':
    case 'delivering':
    case 'awaiting-result':
    case 'cancelled':
      return undefined;
  }
}

async function savePage(app: App, day: string, name: string): Promise<void> {
  const archive = app.archive();
  if ((await archive.list(reportsFolder, day)).includes(name)) return;
  const { renderSavedReport } = await import('../src/desk/day-report.js');
  const { page } = await renderSavedReport(
    { config: app.config, command: app.commandElsewhere },
    await app.ledger(),
    day,
    clock(),
  );
  async function* content() {
    yield Buffer.from(page);
  }
  await archive.store(reportsFolder, day, name, content());
}
