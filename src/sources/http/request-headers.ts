/** Who asks, and whatever else the API wants to be told. All of it is secret. */
export interface RequestCredentials {
  /** By name; in place of those that are sent anyway, where the names are the same. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly bearerToken?: string | undefined;
  /** RFC 7617. */
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
}

/** They belong to the connection. */
const connectionHeaders = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * The headers of every call, names and values in turn.
 *
 * @throws TypeError for what cannot be sent as it is; its message quotes no value
 */
export function writeRequestHeaders({ headers = {}, bearerToken, basic }: RequestCredentials): string[] {
  const written = new Map<string, readonly [string, string]>([
    ['accept', ['Accept', 'application/json']],
    // Answers are read as they come.
    ['accept-encoding', ['Accept-Encoding', 'identity']],
    ['user-agent', ['User-Agent', 'booked-hotel-review']],
  ]);
  const authorization = writeAuthorization({ bearerToken, basic });
  if (authorization !== undefined) written.set('authorization', ['Authorization', authorization]);
  for (const [name, value] of Object.entries(headers)) {
    const objection = checkHeaderName(name);
    if (objection !== undefined) throw new TypeError(`The source's header ${objection}.`);
    if (authorization !== undefined && name.toLowerCase() === 'authorization') {
      throw new TypeError(
        "The source's header Authorization stands beside bearerToken or basic: one says it.",
      );
    }
    written.set(name.toLowerCase(), [name, checkValue(`header ${name}`, value)]);
  }
  return [...written.values()].flat();
}

/** Says why a header cannot be set; undefined where it can. */
export function checkHeaderName(name: string): string | undefined {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return 'has a name that is none';
  if (connectionHeaders.has(name.toLowerCase())) return `${name} is the connection's own: it cannot be set`;
  return undefined;
}

function writeAuthorization({ bearerToken, basic }: RequestCredentials): string | undefined {
  if (bearerToken !== undefined && basic !== undefined) {
    throw new TypeError('The source has both bearerToken and basic: one says who asks.');
  }
  if (bearerToken !== undefined) return `Bearer ${checkValue('bearerToken', bearerToken)}`;
  if (basic === undefined) return undefined;
  if (basic.username.includes(':')) throw new TypeError("The source's basic.username must not hold a colon.");
  return `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;
}

function checkValue(name: string, value: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value;
  throw new TypeError(
    `The source's ${name} must be plain printable ASCII, not empty and without blanks around it.`,
  );
}
