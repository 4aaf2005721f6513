/**
 * Passes the message of a change to the next page: in a cookie, because anybody who makes a link could forge a message in
 * the address.
 */
const name = 'desk-message';
const attributes = 'Path=/; HttpOnly; SameSite=Strict';

export const clearMessage = `${name}=; ${attributes}; Max-Age=0`;

export function writeMessage(message: string): string {
  return `${name}=${encodeURIComponent(message.slice(0, 500))}; ${attributes}; Max-Age=60`;
}

export function readMessage(cookies: string | undefined): string | undefined {
  const [, written] = new RegExp(`(?:^|; ?)${name}=([^;]+)`).exec(cookies ?? '') ?? [];
  if (written === undefined) return undefined;
  try {
    return decodeURIComponent(written);
  } catch {
    return undefined;
  }
}
