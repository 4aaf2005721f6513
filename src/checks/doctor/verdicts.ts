import { formatCountOf, formatDuration, formatInstant } from '../../base/format.js';
import { businessDayAt, goBack } from '../../booking/business-day.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { readDayOutcomes } from '../../review/outcome/read-outcome.js';
import { judgeCanary } from '../../rules/canary.js';
import { groupByDay } from '../../rules/run.js';
import { type Check, checkOfLedger, type Finding, findingsOf } from '../check.js';

const { ok, warning } = findingsOf('verdicts');

/** Whether the mailbox of verdict e-mails can be read. Changes nothing in it. */
export const mailbox: Check = {
  part: 'verdicts',
  seconds: 40,
  async look({ openMailbox }, signal) {
    const mailbox = await openMailbox();
    if (!mailbox) return [];
    const { mails } = await mailbox.probe(signal);
    return [ok(`${mailbox.location} can be read: ${formatCountOf(mails, 'e-mail')}`)];
  },
};

const daysCounted = 14;

/** Warns of verdicts that come by e-mail, which nobody reads. */
export const unreadVerdicts: Check = {
  part: 'verdicts',
  seconds: 40,
  appliesTo: ({ config: { verdicts } }) => (verdicts.imap ?? verdicts.maildir) === undefined,
  async look({ config: { delivery, timezone }, clock, findLedger }) {
    const ledger = await findLedger().catch(() => undefined);
    const count = ledger ? await countByBody(ledger, timezone, clock()) : 0;
    if (delivery === 'file' && count === 0) return [];
    const figure =
      count === 0 ? '' : `, of ${formatCountOf(count, 'booking')} in the last ${daysCounted} days`;
    return [
      warning(
        `by body, verdicts come by e-mail only${figure}, and no mailbox is set up: nobody learns which of these bookings are on an incorrect mapping`,
        delivery === 'file'
          ? 'Say in the setting verdicts where these e-mails arrive; posted lists such bookings, and why they cannot be in the file.'
          : 'Say in the setting verdicts where these e-mails arrive, or deliver by file, whose result says it.',
      ),
    ];
  },
};

/** How many bookings were delivered of which no result says anything. */
async function countByBody(ledger: ReadOnlyLedger, timezone: string, now: number): Promise<number> {
  const to = businessDayAt(new Date(now), timezone).previous();
  const period = { from: goBack(to, daysCounted - 1).iso, to: to.iso };
  const runs = groupByDay(await ledger.runs.listOfDays(period));
  const outcomes = [...(await readDayOutcomes(ledger, period, runs)).values()];
  const byBody = outcomes.map((one) => (one.knowledge === 'by-email' ? one.delivered : one.posted));
  return byBody.reduce((sum, one) => sum + one, 0);
}

/** Enough to find one that was sent. */
const canariesRead = 20;

/** Whether the configured pair can work as a canary, and what happened to the last one. */
export const canary: Check = {
  appliesTo: ({ config }) => config.canary !== undefined,
  ...checkOfLedger('verdicts', async (ledger, { config: { canary }, clock }) => {
    const copied = canary && (await ledger.mappings.find(canary));
    return [
      ...(copied && copied.mapping.serviceId === canary.serviceId
        ? [
            warning(
              "the canary's hotel is mapped correctly, according to the local copy of the mappings",
              'The service has no reason to report it. Agree with the service on a pair that is wrong.',
            ),
          ]
        : []),
      await describeLast(ledger, clock()),
    ];
  }),
};

async function describeLast(ledger: ReadOnlyLedger, now: number): Promise<Finding> {
  const canaries = await ledger.canaries.list({ limit: canariesRead });
  const last = canaries.find((canary) => judgeCanary(canary, now) !== 'unsent');
  if (!last) return ok('no canary has been sent yet');
  const { day, reference, sentAt = 0, withinMs, givenUpFor } = last;
  const state = judgeCanary(last, now);
  if (state === 'named') return ok(`the canary of ${day} was named by an e-mail`);
  if (state === 'not-taken')
    return warning(
      `the service did not take the canary of ${day} (${givenUpFor})`,
      'Has the service agreed to the pair in the setting canary?',
    );
  if (state === 'waiting')
    return ok(`the canary of ${day} may be named until ${formatInstant(sentAt + withinMs)}`);
  return warning(
    `nothing named the canary of ${day} within ${formatDuration(withinMs)}`,
    `The service reviews nothing, or its e-mails do not arrive. Ask it whether it reviewed ${reference}; e-mails that nobody has read: hotel-review verdicts list --unknown.`,
  );
}
