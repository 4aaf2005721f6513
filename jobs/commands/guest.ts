import { InvalidArgumentError } from 'commander';
import { formatCountOf } from '../../src/base/format.js';
import { UsageError } from '../../src/base/safe-error.js';
import { readBooking } from '../../src/booking/stored-line.js';
import { toHistory } from '../../src/cases/booking-history.js';
import { readActions } from '../../src/ledger/audit.js';
import { quickRewrite, type Remains, rememberReference } from '../../src/ledger/guests.js';
import type { Ledger, ReadOnlyLedger } from '../../src/ledger/ledger.js';
import { type RunKey, readInSlices } from '../../src/ledger/runs.js';
import type { Trace } from '../../src/ledger/tracing.js';
import { eraseGuest, type Receipt } from '../../src/review/guests/erase-guest.js';
import {
  findGuest,
  findGuestFiles,
  findNames,
  type Guest,
  readGuestTraces,
} from '../../src/review/guests/guest.js';
import { createNameMask } from '../../src/review/stored/mask-names.js';
import {
  findDueDays,
  listDue,
  listUnknownDue,
  removeDue,
  removeUnknownDue,
} from '../../src/review/stored/retention.js';
import { toFields, withoutWorkers } from '../../src/review/stored/stored-line.js';
import { findUnknownFolders } from '../../src/review/unknown-folders.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import { ArchiveError } from '../../src/storage/archive.js';
import type { App } from '../app.js';
import { clock } from '../clock.js';
import { type AnyCommand, command, dayOption, flag, option } from '../command.js';
import { type ExitCode, exitCode } from '../exit-code.js';

function takeReference(reference: string): { readonly reference: string } {
  if (reference.trim() === '') throw new InvalidArgumentError('expected a booking reference');
  return { reference };
}

/** Rewriting the largest ledgers takes minutes. */
const dueMs = 15 * 60_000;

/**
 * Rewrites a ledger of any size, because a person waits for it, unless a run is due soon.
 *
 * @returns null if no bytes of removed data remain
 */
export async function clearRemains(
  { config: { schedule, timezone } }: App,
  ledger: Ledger,
): Promise<Remains | null> {
  const now = clock();
  const next = createCronTimes(schedule.cron, timezone).next(new Date(now));
  return (await ledger.guests.clearRemains(next && next.getTime() - now < dueMs ? quickRewrite : {})) ?? null;
}

function describeRemains(remains: Remains | null): string {
  return remains === null
    ? "no bytes of removed data remain in the ledger's files"
    : `bytes of removed data may remain in the ledger's files until ${remains.until}: ${remains.why}`;
}

/** The account's files in the archive where there is no ledger that knows them: nothing can be judged of them. */
async function listOrphans(app: App) {
  const { ours } = await findUnknownFolders(app.archive(), undefined);
  const why = `no ledger knows its files (${app.archive().path}): restore the ledger, or continue with a new one (run --unknown-archive)`;
  return ours.map(({ runId, day }) => ({ runId, day, place: 'archive' as const, why }));
}

function describeLeft(left: readonly (Where & { readonly why: string })[]): string[] {
  return left.length === 0 ? [] : ['left:', ...left.map(({ why, ...of }) => describePlace(of, why))];
}

type Where = Omit<Receipt['erased'][number], 'name'>;

/**
 * Removes a guest from everything that is kept, and remembers them as a keyed hash. Exits with 1 if something is left, for
 * example because a run has something left to send or the SFTP server permits no removal.
 */
const erase = command({
  summary: "remove a guest's name everywhere, and print a receipt; replays then send the booking without it",
  usage: '<booking-reference>',
  arguments: takeReference,
  options: {
    reason: option('--reason <text>', 'why; printed on the receipt and kept in the audit trail', {
      required: true,
    }),
    all: flag('--all', 'remove the reference and the stay too'),
    dryRun: flag('--dry-run', 'only show what would be changed'),
  },
  examples: `
Examples:
  hotel-review guest erase BR-1042 --reason "request of 20 November" --dry-run
  hotel-review guest erase BR-1042 --all --reason "ticket 7"`,
  read(given) {
    if (given.reason.trim() === '') throw new InvalidArgumentError('expected a reason after --reason');
    return given;
  },

  async run(app, { reference, all, dryRun, ...given }) {
    const { hashKey } = app.config;
    if (hashKey === undefined)
      throw new UsageError(
        'an erased guest is remembered as a keyed hash, so that a replay does not bring the name back: set hashKey to a text of at ' +
          'least 16 characters, such as openssl rand -base64 32 prints; keep it, and give it to all processes',
      );
    if (!(await app.findLedger())) {
      const left = await listOrphans(app);
      const none = { all, dryRun, ...given, erased: [], left, remembered: [], remains: null };
      return app.answerNone(none, [app.describeNoLedger(), ...describeLeft(left)]);
    }
    const ledger = await app.ledger();
    const at = clock();
    const guest = await findGuest(ledger, reference);
    const reason = maskNames(given.reason, guest);
    const remembered = rememberReference(reference, hashKey, at);
    const { hash } = remembered;
    const subject = `erased:${hash.slice(0, 16)}`;
    await app.record({ action: 'guest-erase', subject, details: { reason, all, dryRun } });
    if (!dryRun) {
      // First, so that a run that starts now brings nothing back.
      await ledger.guests.rememberErased([remembered]);
      await ledger.cases.eraseNotes(reference);
      // Where it stands outside of bookings.
      if (all) await ledger.cases.eraseReference(reference);
      if (all) await ledger.audit.replaceSubject(reference, subject);
    }
    const { file, timezone } = app.config;
    const sftp = file.sftp && app.sftp();
    const parts = { ledger, archive: app.archive(), spool: app.spool(), sftp, timezone, dryRun };
    const { resultPattern } = file;
    const found = await eraseGuest({ ...parts, resultPattern, signal: app.signal }, { guest, all, at });
    const receipt = {
      at: new Date(at).toISOString(),
      ...{ reason, all, dryRun },
      remembered: [{ kind: 'reference', hash }],
      ...found,
      remains: dryRun ? null : await clearRemains(app, ledger),
    };
    const { erased, left, remains } = receipt;
    const what = all ? 'name, reference and stay' : 'name';
    return app.answer(
      [
        dryRun ? `${what} would be erased:` : `${what} erased at ${receipt.at}; reason: ${reason}`,
        erased.map(({ name, ...of }) => describePlace(of, name)),
        erased.length === 0 && '  nothing is kept',
        !dryRun && `remembered, reference: ${hash}`,
        describeLeft(left),
        !dryRun && describeRemains(remains),
      ],
      receipt,
      left.length === 0 ? exitCode.done : exitCode.failed,
    );
  },
});

function describePlace({ day, runId, place }: Where, words: string): string {
  return runId === null ? `  ${place}: ${words}` : `  ${day}  run ${runId}  ${place}: ${words}`;
}

/** The reason is kept in the audit trail, where no name belongs. */
function maskNames(reason: string, guest: Guest): string {
  const mask = createNameMask([reason], undefined);
  for (const name of guest.names) mask.add(name);
  for (const trace of guest.traces)
    if (trace.kind === 'reject')
      for (const text of [trace.reference, trace.value])
        if (text !== undefined && text !== guest.reference) mask.add(text);
  return mask.apply(reason);
}

/** Prints everything that is kept about a guest as JSON; exits with 1 if there is nothing. */
const exportAll = command({
  summary: 'print everything kept about a guest in ledger, archive, spool and audit trail, as JSON',
  usage: '<booking-reference>',
  arguments: takeReference,
  examples: `
Examples:
  hotel-review guest export BR-1042 > guest.json
  hotel-review show --name "Ana Lovelace"   the references of that name`,

  async run(app, { reference }) {
    const ledger = await app.findLedger();
    const answer = (found: Readonly<Record<string, unknown>>, code: ExitCode) =>
      app.answerLarge(undefined, { reference, ...found }, code);
    if (!ledger) {
      const code = await answer({ bookings: [], files: [], cases: [], auditTrail: [] }, exitCode.failed);
      app.warn(app.describeNoLedger());
      return code;
    }
    let bookings = 0;
    let isSent = false;
    const guest = await findNames(ledger, reference, ({ kind }) => {
      bookings += 1;
      isSent ||= kind === 'booking';
    });
    const stores = { archive: app.archive(), spool: app.spool() };
    // Where they are: the records are read again when they are printed, once the export is recorded.
    const runs: RunKey[] = [];
    let files = 0;
    for await (const run of readInSlices(ledger.runs.listKeys)) {
      app.signal.throwIfAborted();
      const found = (await findGuestFiles(stores, run, guest)).length;
      if (found > 0) runs.push(run);
      files += found;
    }
    const cases = (await ledger.cases.findBookings(reference)).map(({ id, booking }) => ({
      case: id,
      ...booking,
    }));
    async function* readBookings(from: ReadOnlyLedger) {
      for await (const traces of readGuestTraces(from, reference)) yield traces.map(guestHistoryToJson);
    }
    async function* readFiles() {
      for (const run of runs)
        for (const file of await findGuestFiles(stores, run, guest))
          yield [{ runId: run.id, day: run.day, ...file }];
    }
    // Who looked at the booking before, and who changed it.
    const auditTrail: object[] = [];
    for await (const actions of readActions(ledger.audit, { subject: reference }))
      for (const { at, ...action } of actions) auditTrail.push({ at: new Date(at).toISOString(), ...action });
    await app.record({
      action: 'guest-export',
      subject: isSent ? reference : undefined,
      details: { bookings, files },
    });
    return answer(
      { bookings: () => readBookings(ledger), files: readFiles, cases, auditTrail },
      bookings + files > 0 ? exitCode.done : exitCode.failed,
    );
  },
});

/** What a ledger knows about a booking, with the guest's name: for the guest, not for the screen of an operator. */
function guestHistoryToJson(trace: Trace): object {
  const history = toHistory(withoutWorkers(trace), { withAnswers: false });
  if (trace.kind === 'booking') return { ...history, booking: toFields(readBooking(trace.line)) };
  const { place, reason, field, reference, value } = trace;
  const held = { ...(field && { field }), ...(reference && { reference }), ...(value && { value }) };
  return { ...history, rejected: { place, reason, ...held } };
}

/**
 * Removes what is due by the retention settings. Unlike the clean-up after a run it trusts the machine's clock: a person
 * started it, and can look first with `--dry-run`. Exits with 1 if something is left because its day is being worked on.
 */
const purge = command({
  summary: 'remove now what is older than guestNameDays and recordDays',
  options: {
    forgetKey: dayOption(
      '--forget-key <day>',
      "only give up that day's key, which is lost for good: its names can never be read again, and retention no longer waits for it",
    ),
    dryRun: flag('--dry-run', 'only show what would be removed'),
  },
  examples: `
Examples:
  hotel-review guest purge --dry-run
  hotel-review guest purge --forget-key 2026-11-20   after its key was lost, and is in no backup`,

  async run(app, { forgetKey, dryRun }) {
    if (forgetKey !== undefined) return forget(app, forgetKey, dryRun);
    const { config } = app;
    const due = findDueDays(config, { now: clock(), timezone: config.timezone });
    if (!(await app.findLedger())) {
      // Nothing says any more whose names these are: they wait for a ledger.
      const left = await listOrphans(app);
      return app.answer(
        [app.describeNoLedger(), ...describeLeft(left)],
        { ...{ dryRun, ...due }, ...{ runs: [], records: [], left, remains: null } },
        left.length === 0 ? exitCode.done : exitCode.failed,
      );
    }
    const ledger = await app.ledger();
    const parts = { ledger, archive: app.archive(), spool: app.spool(), keys: app.keys() };
    const { names: known, records } = await listDue(parts, due);
    const unknown = await removeUnknown(parts, due.namesBefore, dryRun);
    const names = [...known, ...unknown.runs];
    const details = { dryRun, ...due, runs: names.length, records: records.length };
    await app.record({ action: 'guest-purge', details });
    if (!dryRun) await removeDue(parts, due);
    const busy = dryRun ? [] : (await listDue(parts, due)).names;
    const left = [...busy.map(({ runId, day }) => ({ runId, day })), ...unknown.left];
    const remains = dryRun ? null : await clearRemains(app, ledger);
    const verb = dryRun ? 'would be removed' : 'removed';
    return app.answer(
      [
        `guest names of days before ${due.namesBefore}: ${verb} from ${formatCountOf(names.length, 'run')}`,
        names.map(({ day, runId, archived, spooled }) => {
          const files = [...archived, ...spooled];
          return `  ${day}  run ${runId}${files.length > 0 ? `, with ${files.join(', ')}` : ''}`;
        }),
        `references and verdicts of days before ${due.recordsBefore}: ${verb} from ${formatCountOf(records.length, 'run')}`,
        records.map(({ day, id }) => `  ${day}  run ${id}`),
        busy.length > 0 && 'not removed, because the day is being worked on; purge again later:',
        busy.map(({ day, runId }) => `  ${day}  run ${runId}`),
        unknown.left.map(({ place, why }) => `not removed from the ${place}: ${why}`),
        !dryRun && describeRemains(remains),
      ],
      {
        ...{ dryRun, ...due, runs: names },
        records: records.map(({ id, day }) => ({ runId: id, day })),
        left,
        remains,
      },
      left.length === 0 ? exitCode.done : exitCode.failed,
    );
  },
});

/** Gives up a day's lost key: what it encrypted counts as destroyed. */
async function forget(app: App, day: string, dryRun: boolean): Promise<ExitCode> {
  const keys = app.keys();
  if (!keys)
    throw new UsageError('nothing is encrypted: set keys to a folder outside of those of ledger and archive');
  if (keys.listDays().includes(day))
    throw new UsageError(
      `the key of ${day} is in ${keys.root}: it is destroyed after guestNameDays, or at once by \`hotel-review guest purge\` if it is due`,
    );
  await app.record({ action: 'keys-forget', subject: day, details: { dryRun } });
  if (!dryRun) keys.forget(day);
  return app.answer(`The lost key of ${day} ${dryRun ? 'would count' : 'counts'} as destroyed.`, {
    dryRun,
    day,
  });
}

/** Files of runs that the ledger does not know; an archive that is away keeps nobody from purging the ledger. */
async function removeUnknown(parts: Parameters<typeof listUnknownDue>[0], before: string, dryRun: boolean) {
  try {
    const runs = await listUnknownDue(parts, before);
    if (!dryRun) await removeUnknownDue(parts, before);
    return { runs, left: [] };
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    const left = { runId: null, day: null, place: 'archive' as const, why: error.message };
    return { runs: [], left: [left] };
  }
}

export default {
  place: ['guests', 1],
  summary: 'export or remove the data kept about guests',
  examples: `
Examples:
  hotel-review guest export BR-1042   what is kept about this booking's guest
  hotel-review guest erase BR-1042 --reason "ticket 7"
  hotel-review guest purge --dry-run  what is too old to be kept`,
  commands: { export: exportAll, erase, purge },
} satisfies AnyCommand;
