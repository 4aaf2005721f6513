import type { Secrets } from './secrets.js';
import type { SourceAnswers } from './source-answers.js';

/** What a new configuration is made of. What nobody knows yet is undefined and gets a placeholder. */
export interface Answers {
  readonly timezone: string;
  readonly baseUrl: string | undefined;
  readonly source: SourceAnswers;
  readonly delivery: 'body' | 'file';
  /** Undefined where the delivery is by body. */
  readonly sftp: SftpAnswers | undefined;
  readonly secrets: Secrets;
}

export interface SftpAnswers {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly username: string | undefined;
  /** Without one the password is used. */
  readonly keyFile: string | undefined;
  readonly hostKey: string | undefined;
}
