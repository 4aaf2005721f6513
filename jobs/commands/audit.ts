import { formatCountOf, formatInstant } from '../../src/base/format.js';
import { UsageError } from '../../src/base/safe-error.js';
import { renderTable } from '../../src/base/tables.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { auditEntryToJson, readActions } from '../../src/ledger/audit.js';
import type { RecordedAction } from '../../src/rules/action.js';
import { command, dayOption } from '../command.js';

/** Entries that a terminal shows. */
const shown = 200;

/** Lists the audit trail, oldest entry first. */
export default command({
  place: ['guests', 3],
  summary: "list who looked at guests' data or wrote it to a file, when, and which data",
  options: {
    from: dayOption('--from <day>', 'the first day (default: the start of the trail)'),
    to: dayOption('--to <day>', 'the last day (default: today)'),
  },
  examples: `
Examples:
  hotel-review audit                     the latest entries
  hotel-review audit --from 2026-11-01 --to 2026-11-30
  hotel-review audit --from yesterday --json
                                         all of them, for a program`,

  async run(app, { from, to }) {
    if (from && to && to < from) throw new UsageError(`--to ${to} is before --from ${from}`);
    const bounds = { from: from ?? null, to: to ?? null };
    const ledger = await app.findLedger();
    if (!ledger) return app.answer(app.describeNoLedger(), { ...bounds, entries: [] });

    const dayOf = (iso: string) => createBusinessDay(iso, app.config.timezone);
    const filter = {
      ...(from && { from: dayOf(from).firstInstant.getTime() }),
      ...(to && { to: dayOf(to).lastInstant.getTime() }),
    };
    const read = () => readActions(ledger.audit, filter);
    let count = 0;
    let latest: RecordedAction[] = [];
    for await (const actions of read()) {
      count += actions.length;
      latest = [...latest, ...actions].slice(-shown);
    }
    const json = {
      ...bounds,
      entries: async function* () {
        for await (const actions of read()) yield actions.map(auditEntryToJson);
      },
    };
    const time = `${from ? ` from ${from}` : ''}${to ? ` until ${to}` : ''}`;
    if (count === 0) return app.answerLarge(`The audit trail has no entry${time}.`, json);
    const text = [
      `Audit trail${time}: ${formatCountOf(count, 'action')}`,
      renderTable(latest.map(toRow), ['when', 'who', 'action', 'subject', 'details']),
      count > shown && `The ${shown} latest are shown; --json prints all, --from and --to choose.`,
    ];
    return app.answerLarge(text, json);
  },
});

function toRow({ at, who, action, subject, details = {} }: RecordedAction) {
  const named = Object.entries(details).map(([name, value]) => `${name}: ${value}`);
  return [formatInstant(at), who, action, subject, named.join(', ')];
}
