import { businessDayAt } from '../src/booking/business-day.js';
import type { HeldCase } from '../src/cases/case.js';
import { type CaseRequest, performRequest } from '../src/cases/case-requests.js';
import type { ReadOnlyCaseLedger } from '../src/cases/case-store.js';
import { readCaseHistory, showCase } from '../src/cases/show-case.js';
import { renderCase } from '../src/cli/cases.js';
import type { CaseAction } from '../src/cli/commands/cases.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { toShownReport } from '../src/report/cases.js';
import { recordLook } from './audit.js';
import { clock } from './clock.js';
import { findLedger, openLedger, withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

/** Shows a case, or changes it and then shows it. */
export async function changeCase(
  config: Config,
  id: number,
  request: CaseAction,
  terminal: Terminal,
): Promise<number> {
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { id, case: null });
    return exitCode.failed;
  };
  if (request.kind !== 'show' && !(await change(config, id, request, terminal.io.user)))
    return reportNone(`There is no case ${id}. To list them: ${terminal.command('cases')}`);
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const held = await ledger.cases.find(id);
    if (!held) return reportNone(`There is no case ${id}. To list them: ${terminal.command('cases')}`);
    const details = { found: held.bookings.length };
    if (request.kind === 'show')
      await recordLook(ledger, { action: 'case', subject: `case ${id}`, details }, terminal);
    await show(held, { config, ledger, terminal });
    return exitCode.done;
  });
}

interface Showing {
  readonly config: Config;
  readonly ledger: ReadOnlyCaseLedger;
  readonly terminal: Terminal;
}

async function show(held: HeldCase, { config, ledger, terminal }: Showing): Promise<void> {
  const today = businessDayAt(new Date(clock()), config.timezone).iso;
  const keptLabels = Object.keys(config.source.keep);
  const item = await showCase(ledger, held, { today, clock, labels: keptLabels });
  const hasHotels = (await ledger.hotels.latestLoad()) !== undefined;
  const history = await readCaseHistory(ledger.audit, held.id);
  const { command } = terminal;
  terminal.answer(
    renderCase(item, { command, today, hasHotels, history, keptLabels }),
    toShownReport(item, { today, history }),
  );
}

/** False if there is no such case. */
async function change(config: Config, id: number, request: CaseRequest, who: string): Promise<boolean> {
  // Creates no ledger: a new one can't hold the case.
  const found = await findLedger(config);
  if (!found) return false;
  await found.close();
  const ledger = await openLedger(config);
  try {
    return (await performRequest(ledger.cases, [id], request, { who, clock })).has(id);
  } finally {
    await ledger.close();
  }
}
