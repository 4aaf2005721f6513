import { type BusinessDay, businessDayAt } from '../../booking/business-day.js';
import type { Config } from '../../config/load.js';
import { type Probe, probeService } from '../../service/client.js';
import type { Verdict } from '../../service/verdict.js';
import { clockAdvice, describeOffset, findOffset } from '../../transports/http/peer-clocks.js';
import { type Finding, findingsOf } from '../examination/finding.js';

const { ok, warning, wrong } = findingsOf('service');

const later = 'Try again later. If it persists, ask the operator of the service.';
const address = 'Is service.baseUrl the address of the service, including its version, such as /api/3.0?';
const network = 'Is service.baseUrl right, and is the service reachable from this machine?';
const proxy =
  'Is HTTPS_PROXY right, and may the proxy reach the service? NO_PROXY lists hosts that need no proxy.';
const authorities =
  'Is service.baseUrl right? For certificates of your own authority, name its file in NODE_EXTRA_CA_CERTS.';

/** What failed, by the verdict's code. */
const failures: Readonly<Record<string, readonly [what: string, advice: string]>> = {
  'tls-certificate': ['presented a certificate that this machine does not trust', authorities],
  'tls-protocol': ['did not agree on TLS', authorities],
  'host-not-found': ['was not sent: its host has no address (DNS)', network],
  'dns-failed': ['was not sent: DNS did not answer', network],
  'connection-refused': ['was not sent: nothing listens there', network],
  'host-unreachable': ['was not sent: the host is unreachable', network],
  'connect-timeout': ['was not sent: connecting took too long', network],
  'proxy-unreachable': ['was not sent: the proxy cannot be reached', proxy],
  'proxy-refused': ['was not sent: the proxy did not open a connection', proxy],
  'malformed-answer': ['got a response that is not HTTP', address],
  'unreadable-answer': ['got a response that is not one of the service', address],
  'answer-too-large': ['got a response that is longer than any of the service', address],
  timeout: ['got no response in time', later],
  'connection-reset': ['got no response: the connection was reset', later],
};

/**
 * Calls the service without effect: requests a review of no hotels.
 *
 * @param baseUrl without a password, which the configuration would refuse
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
      return ok(`${call} got ${answer}: address, key and account are accepted`);
    case 'fatal':
      return judgeFatal(call, answer, verdict);
    case 'retryable': {
      const [what, advice] = failures[verdict.code] ?? [];
      if (what !== undefined) return wrong(`${call} ${what}`, advice);
      if (verdict.refusedWhenSpent) {
        return warning(
          `${call} got ${answer}, which is unknown: whether key and account are accepted is unclear`,
          'Define further codes in service.statusCodes.',
        );
      }
      return wrong(`${call} got ${answer}`, later);
    }
  }
}

function judgeFatal(call: string, answer: string, { code, httpStatus }: Verdict): Finding {
  const [what, advice] = failures[code] ?? [];
  if (what !== undefined) return wrong(`${call} ${what}`, advice);
  if (httpStatus === 200 || httpStatus === 401 || httpStatus === 403) {
    return wrong(
      `${call} got ${answer}: the key or the account was rejected`,
      'Compare service.apiKey and service.accountId with what the service gave you.',
    );
  }
  const redirect =
    httpStatus !== undefined && httpStatus < 400 ? ', a redirect, which is never followed' : '';
  return wrong(`${call} got ${answer}${redirect}: the address is not the service's`, address);
}

/** Only codes: the service's own message may hold anything. */
function describeAnswer({ code, httpStatus, statusCode }: Verdict): string {
  if (httpStatus === undefined) return code;
  return statusCode === undefined ? `HTTP ${httpStatus}` : `HTTP ${httpStatus} and StatusCode ${statusCode}`;
}

/** The longest wait for the service. */
export const longestProbeSeconds = 10;

/** Several checks need the service's response. The first one calls it, for all of them. */
export function createServiceProbe(
  { service, proxy }: Config,
  clock: () => number,
): (signal: AbortSignal) => Promise<Probe> {
  let probing: Promise<Probe> | undefined;
  return (signal) => {
    probing ??= probeService(
      {
        ...service,
        proxy,
        timeoutMs: Math.min(service.timeoutSeconds, longestProbeSeconds) * 1000,
        connectTimeoutMs: longestProbeSeconds * 1000,
        clock: () => new Date(clock()),
      },
      { signal },
    );
    return probing;
  };
}

const ofClock = findingsOf('clock');

/** @param askService returns the service's response, which may include its time */
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
  const { difference } = await askService();
  const message = difference && describeOffset(findOffset(difference));
  return message === undefined ? [day] : [day, ofClock.warning(message, clockAdvice)];
}

/** The day that `run` takes by default. */
export function dayOfRun(now: Date, zone: string): BusinessDay {
  return businessDayAt(now, zone).previous();
}
