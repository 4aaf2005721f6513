import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { findCanaries } from './canaries.js';

const name = 'Zoë Quokka-7f3a';
const find = (bytes: Uint8Array) => findCanaries(bytes, { guest: name }).map(({ canary }) => canary);

describe('the search for canaries', () => {
  const text = `before ${name} after`;
  it.each<[string, string | Buffer]>([
    ['UTF-8', text],
    ['Latin-1', Buffer.from(text, 'latin1')],
    ['UTF-16', Buffer.from(text, 'utf16le')],
    ['UTF-16 BE', Buffer.from(text, 'utf16le').swap16()],
    ['hex', Buffer.from(text).toString('hex')],
    ['base64', Buffer.from(text).toString('base64')],
    ['base64, one further', Buffer.from(`x${text}`).toString('base64')],
    ['base64, two further', Buffer.from(`xx${text}`).toString('base64')],
    ['base64url', Buffer.from(text).toString('base64url')],
    ['a URL', encodeURIComponent(text)],
    ['a form', new URLSearchParams({ text }).toString()],
    ['JSON', JSON.stringify(text).replaceAll('ë', '\\u00eb')],
    ['HTML', [...text].map((character) => `&#${character.charCodeAt(0)};`).join('')],
    ['gzip', gzipSync(text)],
    ['a gzip member within other bytes', Buffer.concat([Buffer.from('x'), gzipSync(text), Buffer.from('y')])],
    ['a gzip member that is cut off', gzipSync(text + 'x'.repeat(100)).subarray(0, -9)],
    ['gzip in gzip', gzipSync(gzipSync(text))],
    ['zlib', deflateSync(text)],
  ])('finds one in %s', (_what, bytes) => {
    expect(find(Buffer.from(bytes))).toContain('guest');
  });

  it('finds none elsewhere', () => {
    expect(find(Buffer.from(text.replace('7f3a', '7f3b')))).toEqual([]);
    expect(find(gzipSync('x'.repeat(1_000)))).toEqual([]);
  });
});
