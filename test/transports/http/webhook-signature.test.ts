import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { isGuessable } from '../../../src/base/guessable.js';
import { isSigned, readKeys, sign } from '../../../src/transports/http/webhook-signature.js';
import { hookSecret as secret } from '../../support/hook-secrets.js';

const message = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  body: Buffer.from('{"test": 2432232314}'),
};

describe('a signature', () => {
  it('equals that of the specification', () => {
    expect(sign(message, readKeys(secret)[0])).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('equals that of the reference library, and is accepted from it', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 24, maxLength: 64 }).filter((key) => !isGuessable(key)),
        fc.stringMatching(/^[\x21-\x7e]{1,40}$/),
        fc.integer({ min: 1, max: 9_999_999_999 }),
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        (key, id, seconds, body) => {
          const written = `whsec_${Buffer.from(key).toString('base64')}`;
          const theirs = new Webhook(written).sign(id, new Date(seconds * 1000), body);
          const same = { id, timestamp: String(seconds), body: Buffer.from(body) };
          expect(sign(same, readKeys(written)[0])).toBe(theirs);
          expect(isSigned(same, theirs, readKeys(written))).toBe(true);
        },
      ),
    );
  });

  it('matches no message that differs in any way', () => {
    const keys = readKeys(secret);
    const signature = sign(message, keys[0]);
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: 7 }), (at, bit) => {
        const body = Buffer.from(message.body);
        const place = at % body.length;
        body[place] = (body[place] ?? 0) ^ (1 << bit);
        expect(isSigned({ ...message, body }, signature, keys)).toBe(false);
      }),
    );
    expect(isSigned({ ...message, id: 'msg_p5jXN8AQM9LWM0D4loKWxJel' }, signature, keys)).toBe(false);
    expect(isSigned({ ...message, timestamp: '1614265331' }, signature, keys)).toBe(false);
  });

  it('is found among several, of other versions and of other secrets', () => {
    const keys = readKeys(secret);
    const [good, other] = [sign(message, keys[0]), sign(message, Buffer.from('another'))];
    expect(isSigned(message, `v1a,AAAA ${other} ${good}`, keys)).toBe(true);
    expect(isSigned(message, `v1a,AAAA ${other}`, keys)).toBe(false);
    expect(isSigned(message, other, [...keys, Buffer.from('another')])).toBe(true);
    for (const broken of [
      '',
      ' ',
      'v1',
      'v1,',
      good.slice(3),
      good.slice(0, -1),
      `${good}=`,
      good.replace('v1', 'v2'),
    ])
      expect(isSigned(message, broken, keys)).toBe(false);
  });
});

describe('a secret', () => {
  it('without the prefix stands for its own bytes, and for those it encodes if it is long base64', () => {
    expect(readKeys('correct horse battery staple')).toEqual([Buffer.from('correct horse battery staple')]);
    const key = Buffer.from('correct horse battery st');
    const encoded = key.toString('base64');
    expect(readKeys(encoded)).toEqual([Buffer.from(encoded), key]);
    const short = key.subarray(1).toString('base64');
    expect(readKeys(short)).toEqual([Buffer.from(short)]);
  });

  it('that is no key is refused without being quoted', () => {
    for (const broken of ['whsec_', 'whsec_not base64!', 'whsec_abcde']) {
      expect(() => readKeys(broken)).toThrow('must continue in base64');
      expect(() => readKeys(broken)).not.toThrow('not base64!');
    }
  });

  it.each([
    ['nothing', ''],
    ['23 bytes of text', 'a text of 23 characters'],
    ['23 bytes in base64', `whsec_${Buffer.alloc(23, 7).toString('base64')}`],
  ])('that is short enough to be guessed is refused: %s', (_what, short) => {
    expect(() => readKeys(short)).toThrow('the secret is shorter than 24 bytes');
  });

  it.each([
    'a'.repeat(40),
    'hunter22hunter22hunter22!',
    `whsec_${Buffer.alloc(32).toString('base64')}`,
    `whsec_${Buffer.from('abcdefgh'.repeat(4)).toString('base64')}`,
    // Senders may read it as base64.
    Buffer.from('abcdefgh'.repeat(3)).toString('base64'),
  ])('that repeats a few characters or a pattern is refused: %s', (uniform) => {
    expect(() => readKeys(uniform)).toThrow('repeats a few characters');
  });
});
