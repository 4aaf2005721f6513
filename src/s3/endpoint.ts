import { isLoopback } from '../http/loopback.js';

/**
 * Says why an address can't be that of an S3 server, in words for the person who configured it; undefined when it can. The
 * words never repeat the address: it may hold a password. Plain `http://` is for loopback alone. (Design 10.)
 */
export function checkS3Endpoint(url: string): string | undefined {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined) return 'is not a URL; it looks like https://s3.example.com';
  if (address.protocol !== 'https:' && address.protocol !== 'http:') return 'must begin with https://';
  if (address.username !== '' || address.password !== '') {
    return 'must not hold a user name or a password; they are s3.accessKeyId and s3.secretAccessKey';
  }
  if (/[?#]/.test(address.href) || address.pathname !== '/') {
    return 'must end with the host or its port; the bucket stands in s3://BUCKET/…';
  }
  if (address.protocol === 'http:' && !isLoopback(address.hostname)) {
    return 'must begin with https://; plain http:// is taken for this machine only (localhost, 127.0.0.1, [::1])';
  }
  return undefined;
}
