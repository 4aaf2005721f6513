import type { BusinessDay } from '../src/booking/business-day.js';
import { renderAudit, shown } from '../src/cli/audit.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { toAuditEntry } from '../src/report/audit-entry.js';
import { type RecordedAction, readActions } from '../src/review/audit.js';
import { UsageError } from '../src/text/usage-error.js';
import { withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

interface Range {
  readonly from: BusinessDay | undefined;
  readonly to: BusinessDay | undefined;
}

/** Lists the audit trail, oldest entry first. */
export async function showAudit(config: Config, { from, to }: Range, terminal: Terminal): Promise<number> {
  if (from && to && to.iso < from.iso) throw new UsageError(`--to ${to.iso} is before --from ${from.iso}`);
  const time = `${from ? ` from ${from.iso}` : ''}${to ? ` until ${to.iso}` : ''}`;
  const bounds = { from: from?.iso ?? null, to: to?.iso ?? null };
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { ...bounds, entries: [] });
    return exitCode.done;
  };
  return withReadOnlyLedger(config, reportNone, async ({ audit }) => {
    const filter = { from: from?.firstInstant.getTime(), to: to?.lastInstant.getTime() };
    let count = 0;
    let latest: RecordedAction[] = [];
    for await (const actions of readActions(audit, filter)) {
      count += actions.length;
      latest = [...latest, ...actions].slice(-shown);
    }
    const readEntries = async function* () {
      for await (const actions of readActions(audit, filter)) yield actions.map(toAuditEntry);
    };
    await terminal.answerLarge(renderAudit({ time, count, actions: latest }), {
      ...bounds,
      entries: readEntries,
    });
    return exitCode.done;
  });
}
