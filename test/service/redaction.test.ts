import { expect, it } from 'vitest';
import { judgeAnswer } from '../../src/service/call-result.js';
import { createRedaction } from '../../src/service/client.js';
import { findCanaries } from '../support/canaries.js';

it.each([
  [
    'the key anywhere',
    'k-1$&',
    'acme',
    'no key k-1$&, "xk-1$&y" is unknown',
    'no key ***, "x***y" is unknown',
  ],
  [
    'the account as a separate word',
    'key',
    'acme.eu',
    'account acme.eu: who is acme-eu?',
    'account ***: who is acme-eu?',
  ],
  [
    'a number as account, not inside of others',
    'key',
    '20',
    'account 20 of 2009, page20',
    'account *** of 2009, page20',
  ],
  ['an account with punctuation at its ends', 'key', '[a|b]*', '([a|b]*)', '(***)'],
  ['a key that contains the account', 'acme-77', 'acme', 'acme-77 of acme', '*** of ***'],
])('removes %s', (_, apiKey, accountId, text, redacted) => {
  expect(createRedaction({ apiKey, accountId })(text)).toBe(redacted);
});

const key = 'canary/key+5f<0c>7e&3b"';
const account = 'acme-europe-77';
it.each<[string, (text: string) => string]>([
  ['a URL', encodeURIComponent],
  ['a form', (text) => new URLSearchParams({ text }).toString()],
  ['base64', (text) => Buffer.from(text).toString('base64')],
  ['base64, one further', (text) => Buffer.from(`x${text}`).toString('base64')],
  ['base64, two further', (text) => Buffer.from(`xx${text}`).toString('base64url')],
  ['hex', (text) => Buffer.from(text).toString('hex').toUpperCase()],
  ['JSON', (text) => JSON.stringify(text).replaceAll('/', '\\/')],
  ['JSON of escapes only', (text) => text.replace(/./g, (one) => `\\u00${Buffer.from(one).toString('hex')}`)],
  [
    'HTML',
    (text) =>
      text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  ],
])('removes key and account that a service quotes in %s', (_, encode) => {
  const redact = createRedaction({ apiKey: key, accountId: account });
  const redacted = redact(`it came: ${encode(`apikey ${key} accountId ${account} Accept`)}.`);
  expect(redacted).toMatch(/^it came: .*\*{3}.*\*{3}/);
  expect(findCanaries(Buffer.from(redacted), { key, account })).toEqual([]);
});

it('removes the other secrets that the service may know, such as the password of its SFTP server', () => {
  const redact = createRedaction({ apiKey: 'key', accountId: 'acme', otherSecrets: ['pass.word+1'] });
  expect(redact('530 login acme:pass.word+1, pass%2Eword+1 or pass.word%2B1')).toBe(
    '530 login ***:***, pass%2Eword+1 or ***',
  );
});

it('leaves no part of a key where the kept text is cut', () => {
  const apiKey = 'canary-key-5f0c7e3b';
  const redact = createRedaction({ apiKey, accountId: 'acme' });
  for (let before = 1_980; before < 2_000; before += 1) {
    const body = Buffer.from(`${'x'.repeat(before)}${apiKey}`);
    const answer = { status: 500, retryAfter: undefined, body, bodyTruncated: false, now: new Date(0) };
    expect(judgeAnswer(answer, { codes: {} }, redact).answer).toMatch(/^x+\*+$/);
  }
});
