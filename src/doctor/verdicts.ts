import { type Finding, findingsOf } from '../examination/finding.js';
import type { DeliveryKind } from '../ledger/run.js';

const { warning } = findingsOf('verdicts');

/** Warns if runs by body get verdicts that nobody reads. */
export function checkVerdicts(delivery: DeliveryKind, hasMailbox: boolean): readonly Finding[] {
  if (delivery === 'file' || hasMailbox) return [];
  return [
    warning(
      'by body, verdicts come by e-mail only, and no mailbox is set up: nobody learns which bookings are on an incorrect mapping',
      'Say in the setting verdicts where these e-mails arrive, or deliver by file, whose result says it.',
    ),
  ];
}
