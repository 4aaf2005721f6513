import { isLoopback } from '../http/loopback.js';

/**
 * Says why an address cannot be the service's, in words for the person who configured it; undefined when it can.
 *
 * The words never repeat the address: it may hold a password. Plain `http://` is for loopback alone, because the API
 * key travels in a header. (Design 10.)
 */
export function checkBaseUrl(url: string): string | undefined {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined) return 'is not a URL; it looks like https://service.example.com/api/3.0';
  if (address.protocol !== 'https:' && address.protocol !== 'http:') return 'must begin with https://';
  if (address.username !== '' || address.password !== '') {
    return 'must not hold a user name or a password; the service is told who calls by apiKey and accountId';
  }
  // An empty query or fragment leaves its sign in the address only.
  if (address.href.includes('?')) return 'must not hold a query; it ends with the version, as in /api/3.0';
  if (address.href.includes('#')) return 'must not hold a fragment; it ends with the version, as in /api/3.0';
  if (address.protocol === 'http:' && !isLoopback(address.hostname)) {
    return 'must begin with https://; plain http:// is taken for this machine only (localhost, 127.0.0.1, [::1])';
  }
  return undefined;
}
