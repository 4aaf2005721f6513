import { describeNeededHost } from '../../base/addresses.js';
import { createTransport, type HttpResult } from '../../transports/http/transport.js';
import { type Check, type Finding, findingsOf } from '../check.js';

const { ok, warning } = findingsOf('configuration');

const timeoutMs = 5_000;

/** Whether the proxy in front of `serve` passes on what signing in needs. Where people sign in at the proxy, it answers by itself. */
export const publicUrl: Check = {
  part: 'configuration',
  appliesTo: ({ config }) => config.server.signIn === undefined,
  async look({ config: { server, proxy } }, signal) {
    const url = server.publicUrl === undefined ? undefined : new URL(server.publicUrl);
    // Over plain http it is on this machine, without a proxy.
    if (url?.protocol !== 'https:') return [];
    const limits = { connections: 1, maxAnswerBytes: 65_536, timeoutMs, connectTimeoutMs: timeoutMs };
    const transport = createTransport({ origin: url.origin, ...limits, proxy });
    try {
      const headers = ['accept', 'application/json', 'user-agent', 'booked-hotel-review'];
      return [judgeSignIn(url, await transport.call({ method: 'GET', path: '/sign-in', headers, signal }))];
    } finally {
      await transport.close();
    }
  },
};

/** Only warns: perhaps `serve` is not running yet, or this machine can't reach what others can. */
export function judgeSignIn(url: URL, { answer, failure }: HttpResult): Finding {
  const body = String(answer?.body ?? '');
  if (body.includes('"class":"wrong-host"'))
    return warning(`nobody can sign in at ${url.origin}: another host arrives here`, describeNeededHost(url));
  const isForm = answer?.status === 200 && body.includes('action="/sign-in"');
  if (isForm || (answer?.status === 403 && body.includes('"class":"forbidden"')))
    return ok(`${url.origin} leads to serve, and its proxy passes on the header Host`);
  return warning(
    `the page for signing in at ${url.origin} could not be tried (${failure?.code ?? `http-${answer?.status}`})`,
    `${describeNeededHost(url)} To try it, start serve and the proxy first.`,
  );
}
