import { exitCode } from '../src/cli/exit-code.js';
import { renderMails, toMailReport } from '../src/cli/verdict-mails.js';
import type { Config } from '../src/config/load.js';
import { withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

const mailsShown = 200;

/** `hotel-review verdicts list` */
export async function listVerdictMails(
  config: Config,
  { unknown }: { readonly unknown: boolean },
  terminal: Terminal,
): Promise<number> {
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { emails: [] });
    return exitCode.done;
  };
  return withReadOnlyLedger(config, reportNone, async ({ verdictMails }) => {
    const mails = await verdictMails.listMails({ limit: mailsShown, onlyUnknown: unknown });
    terminal.answer(renderMails(mails), { emails: mails.map(toMailReport) });
    return exitCode.done;
  });
}
