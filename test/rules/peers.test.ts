import { expect, it } from 'vitest';
import { describeCode, findRefusingPeer } from '../../src/rules/peers.js';

const [service, sftp] = ['service.example.com:443', 'sftp.example.com:22'];

it.each([
  ...['connection-refused', 'connection-reset', 'host-not-found', 'timeout'].map((code) => [code, service]),
  ...['connect-timeout', 'tls-certificate', 'tls-protocol', 'network-error'].map((code) => [code, service]),
  ...['sftp-connection-lost', 'sftp-no-progress', 'sftp-timeout'].map((code) => [code, sftp]),
  ...['http-503', 'sftp-disk-full', 'http-timeout', 'timeout-refused'].map((code) => [code]),
])('the code %s is shown with its server, if that was not reached: %s', (code = '', server) => {
  expect(describeCode(code, { service, sftp })).toBe(server === undefined ? code : `${code} (${server})`);
  expect(describeCode(code, undefined)).toBe(code);
  if (server === sftp) expect(describeCode(code, { service })).toBe(code);
});

it.each([
  ['service', ['http-401', 'http-403', 'code-2003']],
  ['sftp', ['sftp-authentication-refused', 'sftp-host-key-refused', 'sftp-sftp-refused']],
  ['source', ['login-refused']],
  ['mailbox', ['mailbox-login-refused']],
  ['queue', ['queue-refused']],
  ['archive', ['archive-refused']],
  [undefined, ['http-404', 'authentication-refused', '']],
])('credentials that the %s refuses have the codes %j', (peer, codes) => {
  for (const code of codes) expect(findRefusingPeer(code)).toBe(peer);
});
