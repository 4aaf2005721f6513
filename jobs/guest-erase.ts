import { InvalidArgumentError } from 'commander';
import { createNameMask } from '../src/base/mask-names.js';
import { UsageError } from '../src/base/usage-error.js';
import { rememberReference } from '../src/ledger/guests.js';
import { eraseGuest } from '../src/review/guests/erase-guest.js';
import { findGuest, type Guest } from '../src/review/guests/guest.js';
import type { Receipt } from '../src/review/guests/receipt.js';
import { clock } from './clock.js';
import { command, flag, requiredOption } from './command.js';
import { exitCode } from './exit-code.js';
import { clearRemains, describeOrphan, describeRemains, listOrphans, takeReference } from './guest-data.js';

/**
 * Removes a guest from everything that is kept, and remembers them as a keyed hash. Exits with 1 if something is left, for
 * example because a run has something left to send or the SFTP server permits no removal.
 */
export default command({
  summary: "remove a guest's name everywhere, and print a receipt; replays then send the booking without it",
  usage: '<booking-reference>',
  arguments: takeReference,
  options: {
    reason: requiredOption('--reason <text>', 'why; printed on the receipt and kept in the audit trail'),
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
      const words = [
        app.describeNoLedger(),
        ...(left.length > 0 ? ['left:', ...left.map(describeOrphan)] : []),
      ];
      const none = { all, dryRun, ...given, erased: [], left, remembered: [], remains: null };
      return app.answerNone(none, words.join('\n'));
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
        left.length > 0 && 'left:',
        left.map(({ why, ...of }) => describePlace(of, why)),
        !dryRun && describeRemains(remains),
      ],
      receipt,
      left.length === 0 ? exitCode.done : exitCode.failed,
    );
  },
});

function describePlace(
  { day, runId, place }: Omit<Receipt['erased'][number], 'name'>,
  words: string,
): string {
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
