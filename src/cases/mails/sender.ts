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

/** Judges an e-mail by its headers: in linear time, so that it may happen in any process. */
export function judgeSender(bytes: Uint8Array, { from, authenticatedBy }: ListedSenders): SenderStanding {
  if (from.length === 0) return 'anybody';
  const headers = readHeaders(bytes);
  const list = (wanted: string) => headers.flatMap(({ name, value }) => (name === wanted ? [value] : []));
  const senders = list('from');
  // A header that names nobody or several people, or two headers, are nobody's.
  const address = senders.length === 1 ? readAddress(senders[0]) : undefined;
  if (address === undefined) return 'unlisted';
  const domain = domainOf(address);
  if (!from.some((listed) => [address, `@${domain}`].includes(listed.toLowerCase()))) return 'unlisted';
  if (authenticatedBy === undefined) return 'listed';
  return isProven(domain, list('authentication-results'), authenticatedBy) ? 'listed' : 'unproven';
}

function domainOf(address = ''): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/**
 * Only the newest results of that server count: it adds its own above those that came with the e-mail, and removes any that claim
 * to be its own. (RFC 8601, 5.)
 */
function isProven(domain: string, results: readonly string[], server: string): boolean {
  // "mx.example.com; dmarc=pass header.from=service.example; dkim=pass header.d=service.example"
  const written = results.map((header) => plainPartOf(header).toLowerCase().split(';'));
  const [, ...methods] =
    written.find(([name = '']) => name.trim().split(/\s/)[0] === server.toLowerCase()) ?? [];
  return methods.some((one) => {
    const [[method, result] = [], ...properties] = one
      .trim()
      .split(/\s/)
      .map((part) => part.split('='));
    const read = (wanted: string) => {
      const found = properties.find(([name]) => name === wanted);
      return found && (found[1] ?? '');
    };
    if (result !== 'pass') return false;
    if (method === 'dmarc') return (read('header.from') ?? domain) === domain;
    // Signed by the domain of the sender, or one above it.
    const signer = read('header.d') ?? domainOf(read('header.i'));
    return method === 'dkim' && signer.includes('.') && (domain === signer || domain.endsWith(`.${signer}`));
  });
}

/** More than the headers of any e-mail. */
const mostHeaderBytes = 256 * 1024;
const plainAddress = /^[^\s@<>()[\]\\,;:"]{1,64}@[a-z0-9.-]{1,255}$/;

/** In their order, the newest first. Lines that begin with a space continue the header before. */
export function readHeaders(bytes: Uint8Array) {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, mostHeaderBytes));
  const headers: string[] = [];
  for (const line of start.toString('latin1').split(/\r\n|\r|\n/)) {
    if (line === '' && headers.length > 0) break;
    if (/^[ \t]/.test(line)) headers.push(`${headers.pop() ?? ''} ${line}`);
    else headers.push(line);
  }
  return headers.map((header) => {
    const colon = header.indexOf(':');
    const name = header.slice(0, Math.max(0, colon)).trim().toLowerCase();
    return { name, value: header.slice(colon + 1) };
  });
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
