import { isLoopback } from '../base/addresses.js';
import { escapePattern } from '../base/foreign-text.js';
import type { ClockDifference, PeerClock } from '../transports/http/peer-clocks.js';
import {
  createTransport,
  encodeQueryPart,
  type HttpAnswer,
  type HttpResult,
} from '../transports/http/transport.js';
import type { ProxyRules } from '../transports/http/tunnel.js';
import {
  type CallResult,
  defaultStatusCodes,
  judgeAnswer,
  judgeFailure,
  type StatusCodeTable,
  tooLargeCode,
} from './call-result.js';

export interface ServiceClientOptions extends Credentials {
  /** The service's address including the version segment, with or without a trailing slash. (Spec 9.) */
  readonly baseUrl: string;
  /** Maximum number of connections. */
  readonly connections: number;
  /** For a whole call, in milliseconds. */
  readonly timeoutMs: number;
  /** For opening a connection, in milliseconds; part of the whole call's time. */
  readonly connectTimeoutMs: number;
  readonly statusCodes?: StatusCodeTable;
  /** How much of an answer is read, in bytes, default 65,536, where the request does not say it. */
  readonly maxAnswerBytes?: number;
  readonly proxy?: ProxyRules | undefined;
  readonly clock: () => Date;
  /** Is told what the answers say about the service's clock. */
  readonly peerClock?: PeerClock | undefined;
}

export interface ServiceRequest {
  readonly method: 'GET' | 'POST';
  /** Below the base address, including the query. */
  readonly path: string;
  /** In addition to those of every call; alternating names and values. */
  readonly headers?: readonly string[];
  /** JSON in UTF-8. */
  readonly body?: Uint8Array;
  /** How much of the answer is read, in bytes; a longer 200 is `answer-too-large`. */
  readonly maxAnswerBytes?: number;
  /** The call starts something that must not be started twice: a 5xx leaves open whether it did. */
  readonly startsWork?: boolean;
}

/**
 * The review operations, as the review uses them. They never throw for what the service or the network does; they throw
 * the signal's reason when aborted.
 */
export interface ReviewService {
  /**
   * POST /hotels/ReviewMappingsOfBookedHotels (spec 4.2).
   *
   * @param body the JSON request body, UTF-8
   */
  reviewBookedHotels(body: Uint8Array, options: { readonly signal: AbortSignal }): Promise<CallResult>;
  /**
   * GET /hotels/ReviewMappingsOfBookedHotelsByFile (spec 4.3). A GET with side effects: each call starts a review.
   *
   * @param ftpFilePath the file's path on the SFTP server: `VerifyMappings/112026/20112026.csv`
   */
  reviewBookedHotelsByFile(
    ftpFilePath: string,
    options: { readonly signal: AbortSignal },
  ): Promise<CallResult>;
}

/** Makes each call once and judges it. Repeating is up to the caller: the step runner, or the other operations. */
export interface ServiceClient extends ReviewService {
  /**
   * Any call. Never throws for what the service or the network does; throws the signal's reason when aborted. The answer is what arrived,
   * even if incomplete.
   */
  call(
    request: ServiceRequest,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly result: CallResult; readonly answer?: HttpAnswer | undefined }>;
  /** Cuts every connection. Idempotent. */
  close(): Promise<void>;
}

/**
 * The one client of the mapping service: everything that reaches the service passes through its `call`, which adds the
 * credentials, limits time and size, and removes the credentials from what is kept.
 *
 * @throws TypeError when the address or a header's value cannot be used; the message never quotes them
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const objection = checkBaseUrl(options.baseUrl);
  if (objection !== undefined) throw new TypeError(`The mapping service's baseUrl ${objection}.`);
  const { origin, pathname } = new URL(options.baseUrl);
  const root = pathname.replace(/\/+$/, '');
  const { connections, timeoutMs, connectTimeoutMs, maxAnswerBytes = 65_536, clock } = options;
  const { statusCodes: codes = defaultStatusCodes } = options;
  const redact = createRedaction(options);

  // In the specification's spelling; the transport adds host, connection and content-length. (Spec 5.)
  const headers = [
    ...['apikey', checkHeaderValue('apiKey', options.apiKey)],
    ...['accountId', checkHeaderValue('accountId', options.accountId)],
    ...['Accept', 'application/json'],
    ...['User-Agent', 'booked-hotel-review'],
  ];
  const headersWithBody = [...headers, ...['Content-Type', 'application/json']];
  const { proxy, peerClock } = options;
  const limits = { connections, timeoutMs, connectTimeoutMs, maxAnswerBytes };
  const transport = createTransport({ origin, ...limits, proxy, peerClock });

  const judge = ({ answer, failure }: HttpResult, startsWork: boolean): CallResult => {
    const judgeWhole = (whole: HttpAnswer) =>
      judgeAnswer({ ...whole, now: clock() }, { codes, startsWork }, redact);
    if (failure === undefined) {
      const result = judgeWhole(answer);
      return answer.bodyTruncated && answer.status < 300 ? { ...result, code: tooLargeCode } : result;
    }
    if (answer === undefined) return judgeFailure(failure);
    const result = judgeWhole(answer);
    // A status other than success is clear without its body; a success needs it, and the failure says why it is missing.
    return answer.status >= 300 ? result : { ...result, code: failure.code };
  };

  const call: ServiceClient['call'] = async (request, { signal }) => {
    const { method, path, headers: more, body, maxAnswerBytes, startsWork = false } = request;
    const common = body === undefined ? headers : headersWithBody;
    const received = await transport.call({
      method,
      path: `${root}${path}`,
      headers: more === undefined ? common : [...common, ...more],
      ...(body !== undefined && { body }),
      maxAnswerBytes,
      signal,
    });
    return { result: judge(received, startsWork), answer: received.answer };
  };

  return {
    call,
    async reviewBookedHotels(body, { signal }) {
      return (await call({ method: 'POST', path: reviewPath, body }, { signal })).result;
    },
    async reviewBookedHotelsByFile(ftpFilePath, { signal }) {
      const path = reviewByFilePath(ftpFilePath);
      return (await call({ method: 'GET', path, startsWork: true }, { signal })).result;
    },
    close: () => transport.close(),
  };
}

const noHotels = Buffer.from('{"Hotels":[]}');

/**
 * Calls the service once, with a review of no booked hotels (spec 4.2): nothing is submitted. Never throws for what the
 * service or the network does.
 *
 * @throws TypeError as the client does; the signal's reason when aborted
 */
export async function probeService(
  options: Omit<ServiceClientOptions, 'connections'>,
  { signal }: { readonly signal: AbortSignal },
) {
  /** How far the service's clock is ahead of ours; absent if it sent no time. */
  let difference = undefined as ClockDifference | undefined;
  const peerClock: PeerClock = {
    clock: () => options.clock().getTime(),
    note: (found) => (difference = found),
  };
  const client = createServiceClient({ ...options, peerClock, connections: 1 });
  try {
    const { result } = await client.call({ method: 'POST', path: reviewPath, body: noHotels }, { signal });
    return { result, difference };
  } finally {
    await client.close();
  }
}

/** Spec 4.2, below the base address. */
const reviewPath = '/hotels/ReviewMappingsOfBookedHotels';

/** Spec 4.3, below the base address. */
function reviewByFilePath(ftpFilePath: string): string {
  return `/hotels/ReviewMappingsOfBookedHotelsByFile?ftpFilePath=${encodeQueryPart(ftpFilePath)}`;
}

/**
 * Says why an address cannot be the service's, for the person who configured it; undefined when it can.
 *
 * The words never repeat the address, which may hold a password. Plain `http://` is for loopback only, because the API
 * key travels in a header.
 */
export function checkBaseUrl(url: string): string | undefined {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined) return 'is not a URL; it looks like https://service.example.com/api/3.0';
  if (address.protocol !== 'https:' && address.protocol !== 'http:') return 'must begin with https://';
  if (address.username !== '' || address.password !== '') {
    return 'must not hold a user name or a password; apiKey and accountId identify the caller';
  }
  // An empty query or fragment shows only as `?` or `#` in the address.
  if (address.href.includes('?')) return 'must not hold a query; it ends with the version, as in /api/3.0';
  if (address.href.includes('#')) return 'must not hold a fragment; it ends with the version, as in /api/3.0';
  if (address.protocol === 'http:' && !isLoopback(address.hostname)) {
    return 'must begin with https://; plain http:// is allowed for this machine only (localhost, 127.0.0.1, [::1])';
  }
  return undefined;
}

/** @throws TypeError for a value that a header cannot hold; the message does not quote it */
export function checkHeaderValue(name: string, value: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value;
  throw new TypeError(
    `The mapping service's ${name} must be plain printable ASCII, not empty and without surrounding blanks.`,
  );
}

interface Credentials {
  readonly apiKey: string;
  readonly accountId: string;
  /** Removed from the service's words, too: secrets for other servers that it may know, such as the password of its SFTP server. */
  readonly otherSecrets?: readonly string[] | undefined;
}

/** Shorter texts occur in encoded ones by chance. */
const shortestEncoded = 8;

/**
 * Creates the function that removes the caller's own secrets from the service's words: a service that echoes the
 * call, as it is or encoded, would otherwise put them into the ledger.
 *
 * The key is removed anywhere; the account's identifier, which may be a short number, only as a separate word.
 */
export function createRedaction({
  apiKey,
  accountId,
  otherSecrets = [],
}: Credentials): (text: string) => string {
  const account = escapePattern(accountId);
  // After `%20` a new word begins.
  const accountAlone = `(?:(?<![\\p{L}\\p{N}])|(?<=%[0-9a-f]{2}))${account}(?![\\p{L}\\p{N}])`;
  const encoded = [apiKey, accountId, ...otherSecrets].flatMap(listEncodings).map(escapePattern);
  const credentials = new RegExp(
    [...[apiKey, ...otherSecrets].map(escapePattern), accountAlone].join('|'),
    'gu',
  );
  // Hexadecimal digits are written in either case; base64 in another case is a different text, and harmless to remove.
  const inDisguise = encoded.length === 0 ? undefined : new RegExp(encoded.join('|'), 'gi');
  return (text) => {
    const plain = text.replace(credentials, '***');
    return inDisguise ? plain.replace(inDisguise, '***') : plain;
  };
}

/**
 * The text as programs encode it: percent, hexadecimal, base64 (whatever surrounds the text), HTML and JSON escapes.
 */
function listEncodings(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  if (bytes.length < shortestEncoded) return [];
  const hex = bytes.toString('hex');
  const codes = [...text].map((character) => character.charCodeAt(0));
  const encodings = [
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
    JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    hex,
    hex.replace(/../g, '%$&'),
    codes.map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join(''),
    ...[0, 1, 2].flatMap((offset) => encodeBase64(bytes, offset)),
  ];
  return encodings.filter((one) => one !== text);
}

/** The characters of base64 that do not depend on what surrounds a text that starts at this offset of a group of three. */
function encodeBase64(bytes: Buffer, offset: number): readonly string[] {
  const before = Buffer.concat([Buffer.alloc(offset), bytes]);
  const whole = before.subarray(0, before.length - (before.length % 3)).toString('base64');
  const text = whole.slice(Math.ceil((offset * 4) / 3));
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
}
