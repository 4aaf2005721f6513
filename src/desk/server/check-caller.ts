import type { IncomingHttpHeaders } from 'node:http';
import { createBackOff } from '../../storage/access/passwords.js';
import { isSigned, readKeys } from '../../transports/http/webhook-signature.js';
import type { FindCaller, Sender } from '../access/caller.js';
import { isSame } from '../access/sessions.js';
import { HttpError } from './http-error.js';

/** The token of the header `authorization: Bearer TOKEN`. */
export function readBearerToken({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S|\S.*\S) *$/i.exec(authorization)?.[1];
}

/** A request whose body has not been parsed yet. */
export interface IncomingCall extends Sender {
  readonly body: Uint8Array;
}

/** Checks that a caller may call the hook, and returns the request's id if it has one. */
export type CheckCaller = (call: IncomingCall) => string | undefined;

/** A request without valid credentials. Several from one address make it wait. */
export class WrongCredentialsError extends HttpError {}

/** The largest difference between a signature's timestamp and now, both ways, as in Standard Webhooks. */
const toleranceSeconds = 300;
const challenge = { 'www-authenticate': 'Bearer' };

/**
 * A caller signs with the secret or, if it can't, sends it as a bearer token. Right credentials are always accepted: otherwise a
 * stranger behind the same proxy could lock the hook by guessing. Nobody guesses 24 random bytes; the back-off makes whoever
 * sends wrong ones stop. All that these callers may do shares one check, so that wrong credentials of an address are counted
 * together.
 *
 * @param secret in a form that `readKeys` accepts
 * @returns undefined without a secret, when nobody may call; or a function that throws HttpError 401 for an unauthorised caller, 400
 *   for an id that can't be stored, 429 for wrong credentials from an address from which several came before
 * @throws RangeError for a secret that can't be used
 */
export function createCallerCheck(
  secret: string | undefined,
  findCaller: FindCaller,
  clock: () => number,
): CheckCaller | undefined {
  if (secret === undefined) return undefined;
  const token: string = secret;
  const keys = readKeys(token);
  const backOff = createBackOff(clock);

  function checkSignature({ headers, body }: IncomingCall): void {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
    if (!isGiven(id) || !isGiven(timestamp) || !isGiven(signatures))
      throw unauthorised(
        'a signed request has the headers webhook-id, webhook-timestamp and webhook-signature',
      );
    if (!/^\d{1,12}$/.test(timestamp))
      throw unauthorised('webhook-timestamp must be in whole seconds since 1970');
    if (!isSigned({ id, timestamp, body }, signatures, keys))
      throw unauthorised('webhook-signature does not match this id, timestamp and body under the secret');
    // Only a caller that can sign learns anything about this clock.
    const secondsAgo = Math.floor(clock() / 1000) - Number(timestamp);
    if (Math.abs(secondsAgo) <= toleranceSeconds) return;
    const side = secondsAgo > 0 ? 'too old' : 'in the future';
    // The caller has the secret, so this is not a guess.
    throw new HttpError(
      401,
      `webhook-timestamp is ${side}, by more than the ${toleranceSeconds} s allowed: check both clocks, and sign each attempt anew`,
      challenge,
    );
  }

  function checkToken({ headers }: IncomingCall): void {
    const given = readBearerToken(headers);
    if (given === undefined)
      throw unauthorised('the request has neither a signature nor the header authorization: Bearer SECRET');
    if (!isSame(given, token)) throw unauthorised('the bearer token is not the secret');
  }

  return (call) => {
    try {
      if ('webhook-signature' in call.headers) checkSignature(call);
      else checkToken(call);
      return readRequestId(call.headers);
    } catch (error) {
      if (!(error instanceof WrongCredentialsError)) throw error;
      const { address } = findCaller(call);
      const seconds = backOff.findWait(address);
      if (seconds > 0)
        throw new HttpError(
          429,
          `too many requests from this address had wrong credentials: send the next one in ${seconds} s`,
          { 'retry-after': String(seconds) },
        );
      backOff.recordFailure(address);
      throw error;
    }
  };
}

function unauthorised(message: string): WrongCredentialsError {
  return new WrongCredentialsError(401, message, challenge);
}

function isGiven(header: string | string[] | undefined): header is string {
  return typeof header === 'string' && header !== '';
}

/** Ids are stored: visible ASCII, short enough for a database index. */
function readRequestId({ 'webhook-id': id }: IncomingHttpHeaders): string | undefined {
  if (!isGiven(id)) return undefined;
  if (/^[\x21-\x7e]{1,256}$/.test(id)) return id;
  throw new HttpError(400, 'webhook-id must be at most 256 visible ASCII characters');
}
