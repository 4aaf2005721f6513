import { type Finding, lookAtAll, renderCount, renderFinding } from '../../src/checks/check.js';
import { readConfiguration } from '../../src/checks/doctor/configuration.js';
import { findHanging } from '../../src/checks/doctor/file-systems.js';
import { checks } from '../../src/checks/doctor/list.js';
import { type Config, loadConfig } from '../../src/config/load.js';
import { withApp } from '../app.js';
import { clock } from '../clock.js';
import { type Bare, bareCommand, optionalDay, readDayIn } from '../command.js';
import { exitCode } from '../exit-code.js';
import { showLedgerLocation } from '../parts.js';
import { composeSource, openSourceParts } from '../sources.js';
import { openMailbox } from '../verdict-mails.js';

/** Tries everything that a run needs, and says what to fix. */
export default bareCommand({
  place: ['common', 2],
  summary: 'check configuration, source, service, SFTP and disk, and say what to fix',
  day: optionalDay('whose bookings are checked; default: yesterday'),
  examples: `
Nothing is sent for review: the service is called with an empty list of
bookings. On the SFTP server a small file is written and then removed.

Examples:
  hotel-review doctor                    with yesterday's bookings
  hotel-review doctor 2026-11-20         with those of that day
  hotel-review doctor --json             {"ok": …, "findings": […]}

Exit code 2 when something is wrong.`,

  async run(bare, { day }) {
    const { env, script } = bare.io;
    const file = bare.locate(bare.globals.config);
    const found: Finding[] = [];
    const tell = (finding: Finding) => {
      found.push(finding);
      bare.say(renderFinding(finding));
    };
    const { config, findings } = await readConfiguration(file, (adjust) =>
      loadConfig({ file, env, script, adjust }),
    );
    for (const finding of findings) tell(finding);
    if (config) await lookAtParts(config, bare, file, day, tell);
    const isWrong = found.some(({ verdict }) => verdict === 'wrong');
    bare.say(renderCount(found));
    bare.report({ ok: !isWrong, findings: found });
    return isWrong ? exitCode.usage : exitCode.done;
  },
});

function lookAtParts(
  config: Config,
  bare: Bare,
  file: string,
  day: string | undefined,
  tell: (finding: Finding) => void,
): Promise<void> {
  return withApp(config, bare, async (app) => {
    const checked = {
      ...app,
      ...{ file, clock, temporaryFolder: bare.io.temporaryFolder },
      day: readDayIn(config.timezone, day),
      locateLedger: () => showLedgerLocation(config),
      findLedger: () => app.findLedger({ waits: false, mustTakeWrites: true }),
      openSource: () => composeSource(config, bare.sourceMessages),
      sourceParts: openSourceParts(config, bare.sourceMessages),
      openMailbox: () => openMailbox(config),
    };
    const hanging = await findHanging(checked);
    for (const finding of hanging) tell(finding);
    if (hanging.length === 0) await lookAtAll(checks, checked, { signal: bare.signal, tell });
  });
}
