import type { CallResult } from '../../service/call-result.js';
import { probeService } from '../../service/client.js';
import { clockAdvice, describeOffset, findOffset } from '../../transports/http/peer-clocks.js';
import { type Check, type Finding, findingsOf } from '../check.js';

const { ok, warning, wrong } = findingsOf('service');

const longestSeconds = 10;

/** Calls the service without effect: requests a review of no hotels. Its answer also says what time it is there. */
export const service: Check = {
  part: 'service',
  seconds: longestSeconds + 5,
  async look({ config: { service, proxy }, clock }, signal) {
    const limits = {
      timeoutMs: Math.min(service.timeoutSeconds, longestSeconds) * 1000,
      connectTimeoutMs: longestSeconds * 1000,
      clock: () => new Date(clock()),
    };
    const { result, difference } = await probeService({ ...service, proxy, ...limits }, { signal });
    const offset = difference && describeOffset(findOffset(difference));
    return [
      // The configuration refuses an address with a password.
      judge(
        `a review of no hotels, which submits nothing (POST /hotels/ReviewMappingsOfBookedHotels at ${service.baseUrl})`,
        result,
      ),
      ...(offset === undefined ? [] : [findingsOf('clock').warning(offset, clockAdvice)]),
    ];
  },
};

/** Only codes: the service's own message may hold anything. */
function judge(call: string, result: CallResult): Finding {
  const { kind, code, httpStatus, statusCode } = result;
  const ofStatus =
    statusCode === undefined ? `HTTP ${httpStatus}` : `HTTP ${httpStatus} and StatusCode ${statusCode}`;
  const answer = httpStatus === undefined ? code : ofStatus;
  if (kind === 'accepted' || kind === 'refused')
    return ok(`${call}, got ${answer}: address, key and account are accepted`);
  if (kind === 'retryable' && result.refusedWhenSpent)
    return warning(
      `${call}, got ${answer}, which is unknown: whether key and account are accepted is unclear`,
      'Define further codes in service.statusCodes.',
    );
  return wrong(`${call}, failed: ${answer}`, adviseOn(result));
}

function adviseOn({ kind, code, httpStatus }: CallResult): string {
  if (code.startsWith('tls-'))
    return 'Is service.baseUrl right? For certificates of your own authority, name its file in NODE_EXTRA_CA_CERTS.';
  if (code.startsWith('proxy-'))
    return 'Is HTTPS_PROXY right, and may the proxy reach the service? NO_PROXY lists hosts that need no proxy.';
  if (kind === 'fatal' && [200, 401, 403].includes(httpStatus ?? 0))
    return 'Compare service.apiKey and service.accountId with what the service gave you.';
  if (kind === 'fatal' || /answer|^host-|^dns-|-refused$|^connect-/.test(code))
    return 'Is service.baseUrl the address of the service, including its version, such as /api/3.0, and can this machine reach it?';
  return 'Try again later. If it persists, ask the operator of the service.';
}
