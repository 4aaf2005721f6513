import { expect, it } from 'vitest';
import { describeCode } from '../../../src/rules/peers.js';

const endpoints = { service: 'service.example.com:443', sftp: 'sftp.example.com:22' };

it.each([
  ['connection-refused', 'connection-refused (service.example.com:443)'],
  ['host-not-found', 'host-not-found (service.example.com:443)'],
  ['timeout', 'timeout (service.example.com:443)'],
  ['connect-timeout', 'connect-timeout (service.example.com:443)'],
  ['tls-certificate', 'tls-certificate (service.example.com:443)'],
  ['sftp-connection-refused', 'sftp-connection-refused (sftp.example.com:22)'],
  ['sftp-connection-lost', 'sftp-connection-lost (sftp.example.com:22)'],
  ['sftp-no-progress', 'sftp-no-progress (sftp.example.com:22)'],
  ['http-503', 'http-503'],
  ['sftp-disk-full', 'sftp-disk-full'],
  ['result-absent', 'result-absent'],
  ['http-timeout', 'http-timeout'],
  ['timeout-refused', 'timeout-refused'],
])('the code %s is shown as %s', (code, shown) => {
  expect(describeCode(code, endpoints)).toBe(shown);
});

it('a code is shown alone where its server is not known', () => {
  for (const code of ['timeout', 'sftp-timeout']) expect(describeCode(code, undefined)).toBe(code);
  expect(describeCode('sftp-timeout', { service: 'service.example.com:443' })).toBe('sftp-timeout');
});
