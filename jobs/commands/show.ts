import { InvalidArgumentError } from 'commander';
import { showInLine } from '../../src/base/foreign-text.js';
import { formatCountOf, formatInstant, wrapText } from '../../src/base/format.js';
import {
  type BookingHistory,
  describeSuspicion,
  describeVerdict,
  historyToJson,
  readHistories,
  subjectOf,
} from '../../src/cases/booking-history.js';
import { canaryToJson } from '../../src/ledger/canaries.js';
import type { ReadOnlyLedger } from '../../src/ledger/ledger.js';
import { explainUnsearched } from '../../src/ledger/rejects.js';
import { neverSynced } from '../../src/mappings/copied-hotels.js';
import { renderPair } from '../../src/mappings/hotels/shown-hotels.js';
import { describeCanary } from '../../src/review/canary.js';
import { findBookingsOf } from '../../src/review/guests/guest.js';
import { createSentComparer, type SentComparison } from '../../src/review/stored/as-sent.js';
import type { Action } from '../../src/rules/action.js';
import { renderNotes } from '../../src/rules/finding.js';
import type { App } from '../app.js';
import { clock } from '../clock.js';
import { command, flag, option } from '../command.js';
import { exitCode } from '../exit-code.js';

/** Shows the history of a booking, or of all bookings of a name; exits with 1 if no run contains any. */
export default command({
  place: ['common', 6],
  summary: "show a booking's history: when it was sent, in which step and with what verdict",
  usage: '[booking-reference]',
  arguments: (reference?: string) => ({ reference }),
  options: {
    name: option('--name <name>', 'all bookings of this guest, instead of one reference'),
    answers: flag('--answers', "also show the service's own messages, which may name a guest"),
  },
  examples: `
Examples:
  hotel-review show BR-1042
  hotel-review show --name "Ana Lovelace"   the bookings of that name`,

  read({ reference, name, answers }) {
    const given = [reference, name].filter((text) => text !== undefined);
    const [sought = ''] = given;
    if (given.length !== 1 || sought.trim() === '')
      throw new InvalidArgumentError('expected either a booking reference or --name NAME');
    return { sought, isName: name !== undefined, answers };
  },

  async run(app, { sought, isName, answers }) {
    const ledger = await app.findLedger();
    const code = await (isName ? showGuest : showReference)(app, ledger, sought, answers);
    const unsearched = isName ? undefined : explainUnsearched(app.config);
    if (!ledger) app.say(app.describeNoLedger());
    else if (unsearched) app.say(unsearched);
    return code;
  },
});

type Found = ReadOnlyLedger | undefined;

async function showReference(app: App, ledger: Found, reference: string, answers: boolean): Promise<number> {
  const canary = await ledger?.canaries.findByReference(reference);
  if (canary) {
    const shown = canaryToJson(canary, clock());
    const text = [
      `${reference}: the canary of run ${canary.runId} of ${canary.day}, no booking`,
      ...wrapText(
        'It was sent to see whether the service names an agreed, wrong pair. No count and no list has it.',
      ),
      ...renderNotes([describeCanary(shown, app.config.timezone)], app.command),
      '',
    ];
    return app.answer(text.join('\n'), { reference, canary: shown, bookings: [] });
  }
  const histories = await read(app, ledger, [reference], answers);
  const found = histories.length;
  const subject = subjectOf(
    reference,
    histories.map(({ history }) => history),
  );
  await recordShow(app, { subject, details: { found, answers } });
  const json = { reference, bookings: histories.map(({ history }) => historyToJson(history)) };
  if (found === 0) {
    const text = `${showInLine(reference)} is in no run of this ledger. What was rejected, and where: ${app.command('rejected DAY')}`;
    return app.answer(text, json, exitCode.failed);
  }
  return app.answer(await render(ledger, histories), json);
}

/** The bookings of a guest looked up by name. The name is not repeated: output ends up in files and logs. */
async function showGuest(app: App, ledger: Found, name: string, answers: boolean): Promise<number> {
  const nothing = { references: [], unreferenced: 0 };
  const { references, unreferenced } = ledger ? await findBookingsOf(ledger, name, app.signal) : nothing;
  const histories = await read(app, ledger, references, answers);
  const found = histories.length + unreferenced;
  await recordShow(app, { details: { found, answers, byName: true } });
  const bookings = histories.map(({ reference, history }) => ({ reference, ...historyToJson(history) }));
  const json = { bookings, unreferenced };
  if (found === 0) {
    const text =
      'No booking of that name is in this ledger. Names are removed after guestNameDays, and those of erased guests at once.';
    return app.answer(text, json, exitCode.failed);
  }
  const others = `${formatCountOf(unreferenced, 'booking')} of that name without a reference`;
  return app.answer([...(await render(ledger, histories)), unreferenced > 0 && others], json);
}

async function read(app: App, ledger: Found, references: Iterable<string>, answers: boolean) {
  if (!ledger) return [];
  const options = { answers, today: app.today(), now: clock(), compareSent: createSentComparer(ledger) };
  const histories = [];
  for (const reference of references)
    for (const { history } of await readHistories(ledger, reference, options))
      histories.push({ reference, history });
  return histories;
}

async function render(ledger: Found, histories: Awaited<ReturnType<typeof read>>): Promise<string[]> {
  const showsHotels = (await ledger?.hotels.latestLoad()) !== undefined;
  return histories.map(({ reference, history }) => renderHistories(reference, [history], showsHotels));
}

function recordShow(app: App, action: Omit<Action, 'action'>): Promise<void> {
  // The service's words may name other guests, so they are not shown without a record.
  const record = action.details?.answers === true ? app.record : app.look;
  return record({ action: 'show', ...action });
}

/**
 * What happened to a booking in each run, with a blank line between them.
 *
 * @param showsHotels whether to show the hotels side by side; false until content was loaded
 */
export function renderHistories(
  reference: string,
  histories: readonly BookingHistory[],
  showsHotels = true,
): string {
  return histories
    .map((history) => `${renderHistory(reference, history, showsHotels).join('\n')}\n`)
    .join('\n');
}

/** What the ledger's lines come to if they are rendered again, compared with the checksum of what was sent. */
const comparisons: Readonly<Record<SentComparison, string>> = {
  same: 'the same as was sent',
  differs: 'DIFFERS from what was sent: the ledger was changed',
  'names-removed': 'not comparable with what was sent, since names were removed',
  'other-renderer': 'not comparable with what was sent, by another version of this program',
};

function renderHistory(reference: string, history: BookingHistory, showsHotels: boolean): string[] {
  const { state, runId, day, runState, rejected, suspect, attempts = [], hotels } = history;
  const lines = [
    `${showInLine(reference)}: ${state} in run ${runId} of ${day} (${runState})`,
    rejected
      ? `  not sent: ${rejected.reason}, at place ${rejected.place} of the source`
      : `  verdict: ${describeVerdict(history, formatInstant)}`,
  ];
  if (history.case) {
    const { id, state: mapping, bookingState } = history.case;
    lines.push(`  case ${id}: its mapping is ${mapping}, this booking ${bookingState ?? 'not in it'}`);
  }
  if (suspect) lines.push(`  ${describeSuspicion(suspect)}`);
  for (const [field, value] of Object.entries(history.booking ?? {}))
    lines.push(`  ${field}: ${showInLine(String(value))}`);
  for (const [label, value] of Object.entries(history.kept ?? {}))
    lines.push(`  ${label} (kept, not sent): ${showInLine(value)}`);
  if (hotels && showsHotels) lines.push(...renderPair(hotels, hotels));
  else if (hotels?.copy === 'never-synced') lines.push(`  in the copy: ${neverSynced}`);
  for (const { startedAt, step, attempt, outcome, code, httpStatus, answer, worker } of attempts) {
    const status = httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`;
    const when = formatInstant(Date.parse(startedAt));
    const by = worker === undefined ? '' : `, by ${worker}`;
    lines.push(`  ${when}  ${step}, attempt ${attempt}: ${outcome}, ${code}${status}${by}`);
    // Indented, so that no line of it looks like one of ours.
    if (answer !== undefined) lines.push(`    the service said: ${answer.replaceAll('\n', '\n      ')}`);
  }
  if (history.attempts?.length === 0) lines.push('  not sent yet');
  if (history.renderedAgain) lines.push(`  rendered again: ${comparisons[history.renderedAgain]}`);
  return lines;
}
