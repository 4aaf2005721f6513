import { unknownDatabase, unknownWord } from '../../base/setting-placeholders.js';
import type { IncompleteBookings } from '../../booking/sending.js';
import { checkSetting } from '../../config/single-setting.js';
import { type AnswerRule, type SettingPath, sourceVariables } from '../../sources/common/setup.js';
import { kindOf, type SourceKindName, sourceKinds } from '../../sources/registry.js';
import { checkDotEnvValue, renderDotEnv } from './dot-env.js';

/** The answers about a source. Only its kind knows what else is in them. */
export interface SourceAnswers {
  readonly kind: SourceKindName;
}

/** What a new configuration is made from. What nobody knows yet is undefined and gets a placeholder. */
export interface Answers {
  readonly timezone: string;
  readonly baseUrl: string | undefined;
  readonly source: SourceAnswers;
  readonly delivery: 'body' | 'file';
  /** Accepted bookings of a usual day; undefined if nobody knows. */
  readonly usualBookings?: number | undefined;
  /** Undefined for delivery by body. */
  readonly sftp: SftpAnswers | undefined;
  /** What becomes of bookings that lack a field; by default they are posted. */
  readonly incomplete?: IncompleteBookings | undefined;
  readonly secrets: Secrets;
}

export interface SftpAnswers {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly username: string | undefined;
  /** Without one the password is used. */
  readonly keyFile: string | undefined;
}

/** The environment variables, or those of `.env`, from which a written configuration takes its secrets. */
export const variables = {
  apiKey: 'HOTEL_REVIEW_API_KEY',
  accountId: 'HOTEL_REVIEW_ACCOUNT_ID',
  sftpPassword: 'HOTEL_REVIEW_SFTP_PASSWORD',
  hookSecret: 'HOTEL_REVIEW_HOOK_SECRET',
  ...sourceVariables,
} as const;

export type SecretName = keyof typeof variables;

/** The known secrets. They are written to `.env` and nowhere else. */
export type Secrets = { readonly [name in SecretName]?: string | undefined };

// Only `init` imports this module, so only `init` waits for all setups.
const setups = new Map(
  await Promise.all(sourceKinds.map(async (kind) => [kind.name, await kind.loadSetup()] as const)),
);

/** Each kind of source with its part of `init`, in the order in which they are offered. */
export const listSetups = () => [...setups].map(([name, setup]) => ({ name, ...setup }));

export function setupOf({ kind }: SourceAnswers) {
  const setup = setups.get(kindOf({ kind }).name);
  if (setup === undefined) throw new RangeError(`no setup was loaded for ${kind}`);
  return setup;
}

const rule = (name: string, ...setting: [string, ...string[]]) => ({ name, setting: setting as SettingPath });

const sftpHost = rule('sftpHost', 'file', 'sftp', 'host');
const sftpPort = { ...rule('sftpPort', 'file', 'sftp', 'port'), isNumber: true };

/** Reads HOST or HOST:PORT. */
export function readServer(server: string): { readonly host: string; readonly port: number | undefined } {
  const [, host = server, port] = /^(.*):(\d+)$/.exec(server) ?? [];
  return { host, port: port === undefined ? undefined : Number(port) };
}

function checkServer(server: string): string | undefined {
  const { host, port } = readServer(server);
  const complaint = checkAnswer(sftpHost, host);
  return complaint ?? (port === undefined ? undefined : checkAnswer(sftpPort, String(port)));
}

/** The answers that don't depend on the kind of source. */
export const rules = {
  timezone: rule('timezone', 'timezone'),
  baseUrl: rule('baseUrl', 'service', 'baseUrl'),
  usualBookings: { ...rule('usualBookings', 'volume', 'minimum'), isNumber: true },
  delivery: rule('delivery', 'delivery'),
  sftpServer: { name: 'sftpServer', check: checkServer },
  sftpHost,
  sftpPort,
  sftpUsername: rule('sftpUsername', 'file', 'sftp', 'username'),
  sftpKeyFile: rule('sftpKeyFile', 'file', 'sftp', 'privateKeyFile'),
} as const;

/** Says what is wrong with an answer, in the words of the configuration's own check; undefined if nothing is. */
export function checkAnswer(
  { setting, beside, isNumber = false, isList = false, isSecret = false, check }: AnswerRule,
  answer: string,
): string | undefined {
  if (check !== undefined)
    return check(answer, checkAnswer) ?? (isSecret ? checkDotEnvValue(answer) : undefined);
  const value = isNumber && /^\d+$/.test(answer) ? Number(answer) : isList ? [answer] : answer;
  const complaint = setting === undefined ? undefined : checkSetting(setting, value, beside);
  return complaint ?? (isSecret ? checkDotEnvValue(answer) : undefined);
}

/** The secrets that a configuration with these answers takes, in the order in which `.env` has them. */
export function listSecrets({ sftp, source, secrets }: Answers): readonly SecretName[] {
  const usesPassword = sftp !== undefined && sftp.keyFile === undefined;
  return [
    'apiKey',
    'accountId',
    ...(usesPassword ? (['sftpPassword'] as const) : []),
    ...setupOf(source).listSecrets(source),
    ...(secrets.hookSecret === undefined ? [] : (['hookSecret'] as const)),
  ];
}

/** What stands in place of an unknown secret. */
export function placeholderOf(name: SecretName): string {
  return name === 'sourceUrl' ? unknownDatabase : unknownWord;
}

/** The text of `.env`, with placeholders for unknown secrets. */
export function renderSecrets(answers: Answers): string {
  return renderDotEnv(
    listSecrets(answers).map((name) => [variables[name], answers.secrets[name] ?? placeholderOf(name)]),
  );
}
