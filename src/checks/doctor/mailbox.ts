import { formatCountOf } from '../../base/format.js';
import { describeError } from '../../base/safe-error.js';
import type { Mailbox } from '../../cases/mails/mailbox.js';
import type { Config } from '../../config/load.js';
import { type Finding, findingsOf } from '../examination/finding.js';

const { ok, warning, wrong } = findingsOf('verdicts');

/** Warns if anybody's e-mails count. */
export function checkSenders({ verdicts }: Config): readonly Finding[] {
  const { imap, maildir, from } = verdicts;
  const hasMailbox = (imap ?? maildir) !== undefined;
  if (!hasMailbox || from !== undefined) return [];
  return [
    warning(
      "anybody's e-mails count: whoever can write to the mailbox opens cases, for at most 1,000 bookings at once",
      'Set verdicts.from to the address or the domain that the service writes from.',
    ),
  ];
}

/** Opens the mailbox of verdict e-mails, if one is configured. Changes nothing in it. */
export async function checkMailbox(
  open: () => Promise<Mailbox | undefined>,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  try {
    const mailbox = await open();
    if (!mailbox) return [];
    const { mails } = await mailbox.probe(signal);
    return [ok(`${mailbox.location} can be read: ${formatCountOf(mails, 'e-mail')}`)];
  } catch (error) {
    return [
      wrong(
        describeError(error),
        'Are the address, the folder and the password of the setting verdicts right? Runs work without the mailbox, but then nobody learns which bookings e-mails name.',
      ),
    ];
  }
}
