import { createTransport, type Exchange, type HttpAnswer, type Transport } from '../http/transport.js';
import { checkBaseUrl } from './base-url.js';
import { judgeFailure } from './failure.js';
import type { Verdict } from './mapping-service.js';
import { createRedaction } from './redaction.js';
import { defaultStatusCodes, judgeAnswer, type StatusCodeTable } from './verdict.js';

export interface MappingServiceOptions {
  /** The service's address including the version segment, with or without a slash at its end. (Spec 9.) */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly accountId: string;
  /** How many connections are kept at most. */
  readonly connections: number;
  /** For a whole call, in milliseconds. */
  readonly timeoutMs: number;
  /** For opening a connection, in milliseconds; part of the whole call's time. */
  readonly connectTimeoutMs: number;
  readonly statusCodes?: StatusCodeTable;
  /** How much of an answer is read, in bytes, default 65,536; a longer 200 counts as unreadable. */
  readonly maxAnswerBytes?: number;
  readonly clock: () => Date;
}

/** What every call of one deployment and account needs. */
export interface ServiceCalls {
  /** The path of `baseUrl`, without a slash at its end. */
  readonly root: string;
  readonly headers: string[];
  /** For a call with a JSON body. */
  readonly headersOfBody: string[];
  readonly transport: Transport;
  readonly judge: (exchange: Exchange) => Verdict;
}

/** @throws TypeError when the address or a header's value cannot be used; its message never quotes them */
export function prepareCalls(options: MappingServiceOptions): ServiceCalls {
  const objection = checkBaseUrl(options.baseUrl);
  if (objection !== undefined) throw new TypeError(`The mapping service's baseUrl ${objection}.`);
  const { origin, pathname } = new URL(options.baseUrl);
  const codes = options.statusCodes ?? defaultStatusCodes;
  const redact = createRedaction(options);

  // In the specification's spelling; the transport adds host, connection and content-length. (Spec 5.)
  const headers = [
    ...['apikey', checkHeaderValue('apiKey', options.apiKey)],
    ...['accountId', checkHeaderValue('accountId', options.accountId)],
    ...['Accept', 'application/json'],
    ...['User-Agent', 'booked-hotel-review'],
  ];
  const { connections, timeoutMs, connectTimeoutMs, maxAnswerBytes = 65_536 } = options;
  return {
    root: pathname.replace(/\/+$/, ''),
    headers,
    headersOfBody: [...headers, ...['Content-Type', 'application/json']],
    transport: createTransport({ origin, connections, timeoutMs, connectTimeoutMs, maxAnswerBytes }),
    judge: (exchange) =>
      judgeExchange(exchange, (answer) => judgeAnswer({ ...answer, now: options.clock() }, codes, redact)),
  };
}

function judgeExchange(exchange: Exchange, judge: (answer: HttpAnswer) => Verdict): Verdict {
  switch (exchange.kind) {
    case 'answered':
      return judge(exchange.answer);
    case 'failed': {
      const { brokenAnswer, error, requestWasSent } = exchange;
      if (brokenAnswer === undefined) return judgeFailure(error, { requestWasSent });
      const verdict = judge(brokenAnswer);
      // Any other status is clear without its body; a success needs it, and the failure says why it is not there.
      return brokenAnswer.status >= 300 ? verdict : { ...verdict, code: judgeFailure(error).code };
    }
  }
}

/** @throws TypeError for what cannot stand in a header as it is; its message does not quote it */
export function checkHeaderValue(name: string, value: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value;
  throw new TypeError(
    `The mapping service's ${name} must be plain printable ASCII, not empty and without blanks around it.`,
  );
}
