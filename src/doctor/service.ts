import { type BusinessDay, businessDayAt } from '../booking/business-day.js';
import type { Config } from '../config/load.js';
import { type Finding, findingsOf } from '../examination/finding.js';
import { type Probe, probeService } from '../mapping-service/client.js';
import type { Verdict } from '../mapping-service/verdict.js';
import { formatDuration } from '../text/format.js';

const { ok, warning, wrong } = findingsOf('service');

const later = 'Try again later; if it stays so, ask whoever runs the service.';
const address =
  'Is service.baseUrl the address of the service, up to and with its version, such as /api/3.0?';
const network = 'Is service.baseUrl right, and does the network of this machine let you go there?';
const authorities =
  'Is service.baseUrl right? Where a company signs certificates itself, NODE_EXTRA_CA_CERTS names its file.';

/** What failed, by the code of the verdict. */
const failures: Readonly<Record<string, readonly [what: string, advice: string]>> = {
  'tls-certificate': ['presented a certificate that this machine does not trust', authorities],
  'tls-protocol': ['did not agree on TLS', authorities],
  'host-not-found': ['was not sent: its host has no address (DNS)', network],
  'dns-failed': ['was not sent: DNS did not answer', network],
  'connection-refused': ['was not sent: nothing listens there', network],
  'host-unreachable': ['was not sent: the network does not reach it', network],
  'connect-timeout': ['was not sent: no connection came about in time', network],
  'malformed-answer': ['was answered with something that is no HTTP', address],
  'unreadable-answer': ['was answered with something that is no answer of the service', address],
  timeout: ['was not answered in time', later],
  'connection-reset': ['was not answered: the connection was cut', later],
};

/**
 * Asks the service with a call that does nothing: a review of no hotels.
 *
 * @param baseUrl holds no password: the configuration refuses one
 */
export async function checkService({
  baseUrl,
  probe,
}: {
  readonly baseUrl: string;
  readonly probe: () => Promise<Probe>;
}): Promise<readonly Finding[]> {
  const { verdict } = await probe();
  const operation = `POST /hotels/ReviewMappingsOfBookedHotels at ${baseUrl}`;
  return [judge(`a review of no hotels, which submits nothing (${operation}),`, verdict)];
}

function judge(call: string, verdict: Verdict): Finding {
  const answer = describeAnswer(verdict);
  switch (verdict.kind) {
    case 'accepted':
    case 'refused':
      return ok(`${call} was answered with ${answer}: address, key and account are taken`);
    case 'fatal':
      return judgeFatal(call, answer, verdict);
    case 'retryable': {
      const [what, advice] = failures[verdict.code] ?? [];
      if (what !== undefined) return wrong(`${call} ${what}`, advice);
      if (verdict.refusedWhenSpent) {
        return warning(
          `${call} was answered with ${answer}, which is not known: whether key and account are taken can't be told`,
          'service.statusCodes says what further codes mean.',
        );
      }
      return wrong(`${call} was answered with ${answer}`, later);
    }
  }
}

function judgeFatal(call: string, answer: string, { code, httpStatus }: Verdict): Finding {
  const [what, advice] = failures[code] ?? [];
  if (what !== undefined) return wrong(`${call} ${what}`, advice);
  if (httpStatus === 200 || httpStatus === 401 || httpStatus === 403) {
    return wrong(
      `${call} was answered with ${answer}: the key or the account is not taken`,
      'Compare service.apiKey and service.accountId with what the service gave you.',
    );
  }
  const redirect =
    httpStatus !== undefined && httpStatus < 400 ? ', a redirect, which is never followed' : '';
  return wrong(`${call} was answered with ${answer}${redirect}: the address is not the service's`, address);
}

/** Numbers only: the service's own words may hold anything. */
function describeAnswer({ code, httpStatus, statusCode }: Verdict): string {
  if (httpStatus === undefined) return code;
  return statusCode === undefined ? `HTTP ${httpStatus}` : `HTTP ${httpStatus} and StatusCode ${statusCode}`;
}

/** The longest that the service is waited for. */
export const longestProbeSeconds = 10;

/** Several checks want to know what the service says: it is called once, by the first that asks. */
export function createServiceProbe(
  { baseUrl, apiKey, accountId, statusCodes, timeoutSeconds, connectTimeoutSeconds }: Config['service'],
  clock: () => number,
): (signal: AbortSignal) => Promise<Probe> {
  let probing: Promise<Probe> | undefined;
  return (signal) => {
    probing ??= probeService(
      {
        baseUrl,
        apiKey,
        accountId,
        statusCodes,
        timeoutMs: Math.min(timeoutSeconds, longestProbeSeconds) * 1000,
        connectTimeoutMs: Math.min(connectTimeoutSeconds, longestProbeSeconds) * 1000,
        clock: () => new Date(clock()),
      },
      { signal },
    );
    return probing;
  };
}

const ofClock = findingsOf('clock');

/** Further apart than that, and near midnight a run takes a day that the service would not call by that name. */
const toleratedMs = 60_000;

/** @param askService what the service answered, which may tell its time */
export async function checkClock({
  clock,
  zone,
  askService,
}: {
  readonly clock: () => number;
  readonly zone: string;
  readonly askService: () => Promise<Probe>;
}): Promise<readonly Finding[]> {
  const now = new Date(clock());
  const local = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const day = ofClock.ok(`it is ${local.format(now)} in ${zone}: run takes ${dayOfRun(now, zone).iso}`);
  const { aheadMs } = await askService();
  return aheadMs === undefined ? [day] : [day, ...compare(aheadMs)];
}

/** The day that `run` takes when none is named. */
export function dayOfRun(now: Date, zone: string): BusinessDay {
  return businessDayAt(now, zone).previous();
}

function compare(aheadMs: number): Finding[] {
  if (Math.abs(aheadMs) <= toleratedMs) return [];
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return [
    ofClock.warning(
      `the clock of this machine is ${formatDuration(Math.abs(aheadMs))} ${direction} that of the service`,
      'Set the clock, best by NTP: a clock that is wrong makes run take the wrong day.',
    ),
  ];
}
