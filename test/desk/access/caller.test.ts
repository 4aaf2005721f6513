import { describe, expect, it } from 'vitest';
import { isAddressOrNetwork } from '../../../src/base/addresses.js';
import { createCallerFinder } from '../../../src/desk/access/caller.js';

const proxies = ['127.0.0.1', '10.0.3.0/24', '2001:db8:5::/48'];

function find(passedOn: string | string[] | undefined, ip?: string, known = proxies) {
  return createCallerFinder(known)({ headers: { 'x-forwarded-for': passedOn as string }, ip });
}

describe('behind a trusted proxy, the caller', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['198.51.100.1,\t203.0.113.7 , 10.0.3.8', '203.0.113.7'],
    ['203.0.113.7, 2001:db8:5::1, 10.0.3.8', '203.0.113.7'],
    ['203.0.113.7:49152', '203.0.113.7'],
    ['[2001:db8:7::1]:49152', '2001:db8:7::1'],
    ['[2001:DB8:7:0::1]', '2001:db8:7::1'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['203.0.113.7, ::ffff:10.0.3.8', '203.0.113.7'],
    [['198.51.100.1', '203.0.113.7'], '203.0.113.7'],
  ])('of %j is %s', (passedOn, address) => {
    for (const proxy of ['127.0.0.1', '::ffff:127.0.0.1', '10.0.3.200', '2001:db8:5:9::1'])
      expect(find(passedOn, proxy)).toEqual({ address, isOwnAddress: true, isVouchedFor: true });
  });

  it.each([
    undefined,
    '',
    '203.0.113.7, ',
    '203.0.113.7, 203.0.113.999',
    '203.0.113.7, evil"\r\nx',
    '127.0.0.1',
    '10.0.3.4, 10.0.3.5',
  ])('of %j is nobody in particular: the address of a proxy is shared by all', (passedOn) => {
    const { address, isOwnAddress } = find(passedOn, '127.0.0.1');
    expect(proxies.some((proxy) => proxy.startsWith(address.slice(0, 7)))).toBe(true);
    expect(isOwnAddress).toBe(false);
  });
});

it.each<[string, string, string | undefined, string[], object]>([
  ['a stranger', '127.0.0.1', '203.0.113.7', proxies, { address: '203.0.113.7', isOwnAddress: true }],
  ['a stranger', '127.0.0.1', '::ffff:203.0.113.7', proxies, { address: '203.0.113.7', isOwnAddress: true }],
  // Any address may be that of a proxy.
  [
    'anybody, without proxies',
    '198.51.100.1',
    '127.0.0.1',
    [],
    { address: '127.0.0.1', isOwnAddress: false },
  ],
  ['a neighbour on a link', '127.0.0.1', 'fe80::1%eth0', proxies, { address: 'fe80::1', isOwnAddress: true }],
  ['a connection that is gone', '203.0.113.7', undefined, proxies, { address: '', isOwnAddress: false }],
  ['a strange address', '203.0.113.7', 'x', proxies, { address: '', isOwnAddress: false }],
])('What %s passes on is ignored: %s from %s', (_, passedOn, from, known, caller) => {
  expect(find(passedOn, from, known)).toEqual({ ...caller, isVouchedFor: false });
});

it('Addresses and networks are told from anything else', () => {
  for (const right of ['::1', '10.0.3.0/24', '2001:db8::/32', '0.0.0.0/0', '::ffff:10.0.3.0/120'])
    expect([right, isAddressOrNetwork(right)]).toEqual([right, true]);
  for (const wrong of [
    ...['', ' 127.0.0.1', '127.0.0.1 ', 'localhost', '10.0.3', '10.0.3.0/33', '10.0.3.0/', '10.0.3.0/-1'],
    ...['10.0.3.0/24/7', '::/129', 'fe80::1%eth0', '[::1]', '127.0.0.1:80', '010.0.0.1', '10.0.3.*'],
  ])
    expect([wrong, isAddressOrNetwork(wrong)]).toEqual([wrong, false]);
});
