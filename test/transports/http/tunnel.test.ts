import { expect, it } from 'vitest';
import { chooseProxy } from '../../../src/transports/http/tunnel.js';

it.each([
  ['example.com', 'example.com'],
  ['a.example.com', 'example.com'],
  ['a.example.com', '.example.com'],
  ['a.example.com', '*.example.com'],
  ['A.EXAMPLE.com', 'a.example.COM'],
  ['a.example.com', 'example.com:443'],
  ['[::1]', '::1'],
  ['[::1]', '[::1]'],
  ['10.0.0.7', '10.0.0.7'],
  ['anything', '*'],
])('%s is reached without a proxy if NO_PROXY has %s', (hostname, entry) => {
  expect(chooseProxy({ url: 'http://proxy', direct: ['x', entry] }, { hostname, port: 443 })).toBeUndefined();
});

it.each([
  ['notexample.com', 'example.com'],
  ['example.com.evil.test', 'example.com'],
  ['example.com', 'example.com:8443'],
  ['example.com', 'a.example.com'],
])('%s is not matched by %s in NO_PROXY', (hostname, entry) => {
  const chosen = chooseProxy({ url: 'http://proxy', direct: [entry] }, { hostname, port: 443 });
  expect(chosen?.hostname).toBe('proxy');
});
