import type { SourceAnswers } from './source-answers.js';

/** The variables of the environment, or of `.env`, that a written configuration takes its secrets from. */
export const variables = {
  apiKey: 'HOTEL_REVIEW_API_KEY',
  accountId: 'HOTEL_REVIEW_ACCOUNT_ID',
  sftpPassword: 'HOTEL_REVIEW_SFTP_PASSWORD',
  /** The address of a database, with its password. */
  sourceUrl: 'HOTEL_REVIEW_SOURCE_URL',
  /** A bearer token. */
  sourceToken: 'HOTEL_REVIEW_SOURCE_TOKEN',
  /** Of an API, or of the SFTP server where the files lie. */
  sourcePassword: 'HOTEL_REVIEW_SOURCE_PASSWORD',
  /** The value of a header. */
  sourceKey: 'HOTEL_REVIEW_SOURCE_KEY',
  s3KeyId: 'HOTEL_REVIEW_S3_KEY_ID',
  s3Secret: 'HOTEL_REVIEW_S3_SECRET',
} as const;

export type SecretName = keyof typeof variables;

/** Those that are known. They stand in `.env` and nowhere else. */
export type Secrets = { readonly [name in SecretName]?: string | undefined };

/** The secrets that a source with these answers needs, in the order in which they are written. */
export function listSourceSecrets(source: SourceAnswers): readonly SecretName[] {
  switch (source.kind) {
    case 'csv':
    case 'ndjson':
      return [
        ...(source.drop !== undefined && source.drop.keyFile === undefined
          ? (['sourcePassword'] as const)
          : []),
        ...(source.bucket?.hasKey ? (['s3KeyId', 's3Secret'] as const) : []),
      ];
    case 'sql':
      return source.file === undefined ? ['sourceUrl'] : [];
    case 'http':
      switch (source.auth.kind) {
        case 'none':
          return [];
        case 'bearer':
          return ['sourceToken'];
        case 'basic':
          return ['sourcePassword'];
        case 'header':
          return ['sourceKey'];
      }
      break;
    case 'module':
      return [];
  }
}
