import { businessDayAt } from '../src/booking/business-day.js';
import { type WatchLedger, type WatchReport, watchMappings } from '../src/cases/watch/watch-mappings.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderWatch } from '../src/cli/watch.js';
import type { Config } from '../src/config/load.js';
import type { NotifyAll } from '../src/events/events.js';
import { clock } from './clock.js';
import { followUpSync } from './follow-up.js';
import { openLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';

/** `hotel-review watch`: compares what moved in the local copy of the mappings with the upcoming stays. */
export async function watchOnce(config: Config, terminal: Terminal): Promise<number> {
  const ledger = await openLedger(config);
  try {
    if (await ledger.mappings.isEmpty()) {
      const hint = `To fill it: ${terminal.command('mappings sync')}`;
      const nothing = { checkedMoves: 0, findings: [] };
      terminal.answer(`The local copy of the mappings is empty. ${hint}\n`, nothing);
      return exitCode.done;
    }
    const { notify, say: warn, signal, command } = terminal;
    await followUpSync(config, { ledger, notify, warn, signal });
    const { counts, findings } = await watchCopy(config, { ledger, notify }, signal);
    terminal.endProgress();
    terminal.answer(renderWatch({ counts, findings }, command), {
      checkedMoves: counts.checkedMoves,
      findings,
    });
    return exitCode.done;
  } finally {
    await ledger.close();
  }
}

/** A watch on the account's day. */
export function watchCopy(
  { timezone }: Config,
  { ledger, notify }: { readonly ledger: WatchLedger; readonly notify: NotifyAll },
  signal: AbortSignal,
): Promise<WatchReport> {
  const today = businessDayAt(new Date(clock()), timezone).iso;
  return watchMappings({ ledger, today, clock, notify }, signal);
}
