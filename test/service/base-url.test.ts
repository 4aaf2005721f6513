import { describe, expect, it } from 'vitest';
import { checkBaseUrl } from '../../src/service/client.js';

describe('the base URL', () => {
  it.each([
    'https://service.example.com/api/3.0',
    'https://service.example.com/api/3.0/',
    'https://service.example.com:8443/api/3.0',
    'https://127.0.0.1/api/3.0',
    'http://localhost:8080/api/3.0',
    'http://127.0.0.1:8080/api/3.0',
    'http://127.8.9.10/api/3.0',
    'http://[::1]:8080/api/3.0',
  ])('accepts %s', (url) => {
    expect(checkBaseUrl(url)).toBeUndefined();
  });

  it.each([
    ['nothing', '', /not a URL/],
    ['a host without a scheme', 'service.example.com/api/3.0', /not a URL/],
    ['another scheme', 'ftp://service.example.com/api/3.0', /https/],
    ['plain http to another machine', 'http://service.example.com/api/3.0', /this machine only/],
    ['a name that begins like loopback', 'http://127.0.0.1.example.com/api/3.0', /this machine only/],
    ['a name that ends like loopback', 'http://service.localhost.example.com/', /this machine only/],
    ['plain http to every address', 'http://0.0.0.0/api/3.0', /this machine only/],
    ['a user name', 'https://acme@service.example.com/api/3.0', /user name/],
    ['a password', 'https://:s3cret@service.example.com/api/3.0', /password/],
    ['a query', 'https://service.example.com/api/3.0?key=s3cret', /query/],
    ['an empty query', 'https://service.example.com/api/3.0?', /query/],
    ['a fragment', 'https://service.example.com/api/3.0#s3cret', /fragment/],
    ['an empty fragment', 'https://service.example.com/api/3.0#', /fragment/],
  ])('refuses %s', (_what, url, words) => {
    expect(checkBaseUrl(url)).toMatch(words);
  });

  it('is not quoted in the message, because it may contain a password', () => {
    expect(checkBaseUrl('https://acme:s3cret@service.example.com/')).not.toMatch(
      /s3cret|acme|service\.example/,
    );
  });
});
