/** Who says an e-mail is from, and what the receiving server found out about that. */
export interface Sender {
  /** In lower case; undefined if the header names nobody, several people, or can't be understood. */
  readonly address?: string | undefined;
  /** The headers `Authentication-Results`, the newest first. */
  readonly results: readonly string[];
}

/** Whose e-mails count. */
export interface ListedSenders {
  /** Addresses, or domains such as `@service.example`; empty for anybody's. */
  readonly from: readonly string[];
  /** The name by which the receiving server signs its `Authentication-Results`. */
  readonly authenticatedBy?: string | undefined;
}

/**
 * `unlisted`: an e-mail of somebody else. `unproven`: from a listed address, but the receiving server does not confirm that.
 * `anybody`: no senders are listed.
 */
export type SenderStanding = 'listed' | 'unproven' | 'unlisted' | 'anybody';

export function judgeSender(
  { address, results }: Sender,
  { from, authenticatedBy }: ListedSenders,
): SenderStanding {
  if (from.length === 0) return 'anybody';
  const domain = domainOf(address);
  const isListed = from.some((listed) => [address, `@${domain}`].includes(listed.toLowerCase()));
  if (address === undefined || !isListed) return 'unlisted';
  if (authenticatedBy === undefined) return 'listed';
  return isProven(domain, results, authenticatedBy) ? 'listed' : 'unproven';
}

function domainOf(address = ''): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/**
 * Only the newest results of that server count: it adds its own above those that came with the e-mail, and removes any that claim
 * to be its own. (RFC 8601, 5.)
 */
function isProven(domain: string, results: readonly string[], server: string): boolean {
  const [first] = results.map(readResults).filter(({ name }) => name === server.toLowerCase());
  return (first?.methods ?? []).some(
    ({ method, result, properties }) =>
      result === 'pass' &&
      ((method === 'dmarc' && (properties.get('header.from') ?? domain) === domain) ||
        (method === 'dkim' && isSignedFor(domain, properties))),
  );
}

/** By the domain of the sender, or one above it. */
function isSignedFor(domain: string, properties: ReadonlyMap<string, string>): boolean {
  const signer = properties.get('header.d') ?? domainOf(properties.get('header.i'));
  return signer.includes('.') && (domain === signer || domain.endsWith(`.${signer}`));
}

/** "mx.example.com; dmarc=pass header.from=service.example; dkim=pass header.d=service.example" */
function readResults(header: string) {
  const [name = '', ...methods] = plainPartOf(header).toLowerCase().split(';');
  return {
    name: name.trim().split(/\s/)[0],
    methods: methods.map((written) => {
      const [first = '', ...others] = written.trim().split(/\s/);
      const [method, result] = first.split('=');
      const properties = new Map<string, string>();
      for (const other of others) {
        const [property = '', value = ''] = other.split('=');
        if (!properties.has(property)) properties.set(property, value);
      }
      return { method, result, properties };
    }),
  };
}

/** More than the headers of any e-mail. */
const mostHeaderBytes = 256 * 1024;
const plainAddress = /^[^\s@<>()[\]\\,;:"]{1,64}@[a-z0-9.-]{1,255}$/;

/** Reads the sender from the headers of an e-mail: in linear time, so that it may happen in any process. */
export function readSender(bytes: Uint8Array): Sender {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, mostHeaderBytes));
  const senders: string[] = [];
  const results: string[] = [];
  for (const header of splitHeaders(start.toString('latin1'))) {
    const colon = header.indexOf(':');
    const value = header.slice(colon + 1);
    switch (header.slice(0, Math.max(0, colon)).trim().toLowerCase()) {
      case 'from':
        senders.push(value);
        break;
      case 'authentication-results':
        results.push(value);
    }
  }
  return { address: senders.length === 1 ? readAddress(senders[0]) : undefined, results };
}

/** Lines that begin with a space continue the header before. */
function splitHeaders(text: string): string[] {
  const headers: string[] = [];
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === '' && headers.length > 0) break;
    if (/^[ \t]/.test(line)) headers.push(`${headers.pop() ?? ''} ${line}`);
    else headers.push(line);
  }
  return headers;
}

/** "Reviews (automatic)" <reviews@service.example>: anything but exactly one address is nobody's. */
function readAddress(written = ''): string | undefined {
  const text = plainPartOf(written).trim().toLowerCase();
  const open = text.indexOf('<');
  if (open === -1) return plainAddress.test(text) ? text : undefined;
  const name = text.slice(0, open);
  const address = text.slice(open + 1, -1).trim();
  const isOne = text.endsWith('>') && !/[@,;:<>]/.test(name) && plainAddress.test(address);
  return isOne ? address : undefined;
}

/** Without what stands in parentheses or quotes: anybody may have written that. */
function plainPartOf(text: string): string {
  let kept = '';
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    const isInside = depth > 0 || isQuoted;
    if (sign === '\\' && isInside) at += 1;
    else if (sign === '"' && depth === 0) isQuoted = !isQuoted;
    else if (sign === '(' && !isQuoted) depth += 1;
    else if (sign === ')' && depth > 0) depth -= 1;
    else if (!isInside) kept += sign;
  }
  return kept;
}
