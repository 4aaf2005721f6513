import { formatDuration, formatInstant } from '../../base/format.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { judgeCanary } from '../../rules/canary.js';
import { type Finding, findingsOf } from '../examination/finding.js';

const { ok, warning } = findingsOf('verdicts');

interface CanaryPair {
  readonly serviceId: number;
  readonly providerName: string;
  readonly providerHotelId: string;
}

/** Checks whether the configured pair can work as a canary, and what happened to the last one. */
export async function checkCanary(
  pair: CanaryPair,
  ledger: ReadOnlyLedger,
  now: number,
): Promise<readonly Finding[]> {
  const copied = await ledger.mappings.find(pair);
  const isRight = copied?.mapping.serviceId === pair.serviceId;
  return [
    ...(isRight
      ? [
          warning(
            'the pair of the setting canary is right, according to the local copy of the mappings',
            'The service has no reason to name it. Agree with the service on a pair that is wrong.',
          ),
        ]
      : []),
    ...(await describeLast(ledger, now)),
  ];
}

/** Enough to find one that was sent. */
const canariesRead = 20;

async function describeLast(ledger: ReadOnlyLedger, now: number): Promise<readonly Finding[]> {
  const canaries = await ledger.canaries.list({ limit: canariesRead });
  const last = canaries.find((canary) => judgeCanary(canary, now) !== 'unsent');
  if (!last) return [ok('no canary has been sent yet')];
  const { day, reference, sentAt = 0, withinMs, givenUpFor } = last;
  switch (judgeCanary(last, now)) {
    case 'unsent':
      return [];
    case 'waiting':
      return [ok(`the canary of ${day} may be named until ${formatInstant(sentAt + withinMs)}`)];
    case 'named':
      return [ok(`the canary of ${day} was named by an e-mail`)];
    case 'not-taken':
      return [
        warning(
          `the service did not take the canary of ${day} (${givenUpFor})`,
          'Has the service agreed to the pair in the setting canary?',
        ),
      ];
    case 'missed':
      return [
        warning(
          `nothing named the canary of ${day} within ${formatDuration(withinMs)}`,
          `The service reviews nothing, or its e-mails do not arrive. Ask it whether it reviewed ${reference}; e-mails that nobody has read: hotel-review verdicts list --unknown.`,
        ),
      ];
  }
}
