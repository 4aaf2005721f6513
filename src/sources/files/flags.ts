import type { AnswerRule, OptionsOf, SourceFlags } from '../common/setup.js';

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
    endpoint: { name: 's3Endpoint', setting: ['s3', 'endpoint'], beside },
    region: { name: 's3Region', setting: ['s3', 'region'], beside },
    // Either half of the key is wrong without the other.
    keyId: {
      name: 's3KeyId',
      setting: ['s3', 'accessKeyId'],
      beside: { ...beside, s3: { secretAccessKey: 'any' } },
    },
    keySecret: { name: 's3Secret', setting: ['s3', 'secretAccessKey'], beside },
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
