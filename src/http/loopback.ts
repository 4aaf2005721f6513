/**
 * Whether an address is this machine's own, the only one to which plain `http://` may go. (Design 10.)
 *
 * @param hostname of a parsed URL: its IPv4 address is always written out in four numbers
 */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
