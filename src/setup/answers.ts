import type { InitOptions } from '../cli/commands/setup.js';
import { checkSetting } from '../config/check-setting.js';
import { UsageError } from '../review/refusals.js';

/** What a new configuration is made of. What nobody knows yet is undefined and gets a placeholder. */
export interface Answers {
  readonly timezone: string;
  readonly baseUrl: string | undefined;
  readonly kind: 'csv' | 'ndjson';
  readonly path: string;
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

/** They stand in `.env` and nowhere else. */
export interface Secrets {
  readonly apiKey: string | undefined;
  readonly accountId: string | undefined;
  readonly sftpPassword: string | undefined;
}

/** Where an answer stands in the configuration; its check is the schema's. */
export const settingOf = {
  timezone: ['timezone'],
  baseUrl: ['service', 'baseUrl'],
  apiKey: ['service', 'apiKey'],
  accountId: ['service', 'accountId'],
  kind: ['source', 'kind'],
  path: ['source', 'path'],
  delivery: ['delivery'],
  sftpHost: ['file', 'sftp', 'host'],
  sftpPort: ['file', 'sftp', 'port'],
  sftpUsername: ['file', 'sftp', 'username'],
  sftpPassword: ['file', 'sftp', 'password'],
  sftpKeyFile: ['file', 'sftp', 'privateKeyFile'],
  sftpHostKey: ['file', 'sftp', 'hostKey'],
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>;

export type AnswerName = keyof typeof settingOf;

/** Says what is wrong with an answer, in the words of the configuration's own check. */
export function checkAnswer(name: AnswerName, value: string): string | undefined {
  const isNumber = name === 'sftpPort' && /^\d+$/.test(value);
  return checkSetting(settingOf[name], isNumber ? Number(value) : value);
}

/** The options that are answers, as they are written on the command line. */
const flags = [
  ['timezone', '--timezone'],
  ['baseUrl', '--base-url'],
  ['kind', '--kind'],
  ['path', '--path'],
  ['delivery', '--delivery'],
  ['sftpHost', '--sftp-host'],
  ['sftpPort', '--sftp-port'],
  ['sftpUsername', '--sftp-username'],
  ['sftpKeyFile', '--sftp-key-file'],
] as const satisfies readonly (readonly [keyof InitOptions & AnswerName, string])[];

/** @throws UsageError for an option that the configuration would not take, or that goes with another delivery */
export function checkOptions(options: InitOptions): void {
  for (const [name, flag] of flags) {
    const value = options[name];
    const complaint = value === undefined ? undefined : checkAnswer(name, String(value));
    if (complaint !== undefined) throw new UsageError(`${flag}: ${complaint}`);
    if (value !== undefined && flag.startsWith('--sftp-') && options.delivery === 'body') {
      throw new UsageError(`${flag} goes with --delivery file`);
    }
  }
}

/** Whoever names a server wants the delivery by file. */
export function namesServer(options: InitOptions): boolean {
  return flags.some(([name, flag]) => flag.startsWith('--sftp-') && options[name] !== undefined);
}
