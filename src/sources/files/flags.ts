import { checkS3Endpoint } from '../../transports/s3/bucket.js';
import type { AnswerRule, OptionsOf, SourceFlags } from '../common/setup.js';

const checkRegion = (region: string) =>
  /^[a-z0-9-]{1,40}$/.test(region) ? undefined : 'expected a region such as eu-central-1';
const checkKey = (key: string) =>
  /^[!-~]+$/.test(key) ? undefined : 'expected a text of ASCII characters without spaces';

/** How the answers about a day's file are checked. */
export function fileRules(kind: string) {
  const beside = { source: { kind } };
  const rule = (name: string, ...setting: string[]): AnswerRule => ({
    name,
    setting: ['source', ...setting],
    beside,
  });
  return {
    path: rule('path', 'path'),
    username: rule('sourceSftpUsername', 'sftp', 'username'),
    keyFile: rule('sourceSftpKeyFile', 'sftp', 'privateKeyFile'),
    password: rule('sourceSftpPassword', 'sftp', 'password'),
    hostKey: rule('sourceSftpHostKey', 'sftp', 'hostKey'),
    endpoint: { name: 's3Endpoint', check: checkS3Endpoint, isSecret: true },
    region: { name: 's3Region', check: checkRegion, isSecret: true },
    keyId: { name: 's3KeyId', check: checkKey, isSecret: true },
    keySecret: { name: 's3Secret', check: checkKey, isSecret: true },
  } as const satisfies Record<string, AnswerRule>;
}

export function fileFlags(kind: string) {
  const rules = fileRules(kind);
  return {
    path: {
      value: '<path>',
      help: "the day's file, with {day} for the day; also s3://… and sftp://…",
      rule: rules.path,
    },
    s3Endpoint: {
      value: '<url>',
      help: "the server of s3://, if not Amazon's",
      rule: rules.endpoint,
      scheme: 's3',
    },
    s3Region: { value: '<region>', help: 'the region of s3://', rule: rules.region, scheme: 's3' },
    sourceSftpUsername: {
      value: '<name>',
      help: 'the user name for sftp://',
      rule: rules.username,
      scheme: 'sftp',
    },
    sourceSftpKeyFile: {
      value: '<path>',
      help: 'the private key for sftp://; without one a password is used',
      rule: rules.keyFile,
      scheme: 'sftp',
    },
    sourceSftpHostKey: {
      value: '<fingerprint>',
      help: "the server's host key for sftp://, SHA256:…",
      rule: rules.hostKey,
      scheme: 'sftp',
    },
  } as const satisfies SourceFlags;
}

export type FileOptions = OptionsOf<ReturnType<typeof fileFlags>>;
