import type { BusinessDay } from '../../booking/business-day.js';
import type { SourceParts } from './kind.js';

/** What the command line says. There are no options for secrets. */
export type SourceOptions = Readonly<Record<string, unknown>>;

export type SettingPath = readonly [string, ...string[]];

/** How an answer is checked, whether an option or a person gives it. */
export interface AnswerRule {
  /** Identifies the answer, so that it becomes the default when the question is asked again. */
  readonly name: string;
  /** The setting that takes the answer. The answer is checked as the configuration would check it. */
  readonly setting?: SettingPath;
  /** Other settings that this check depends on. */
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly isNumber?: boolean;
  /** The setting takes a list, and the answer is its item. */
  readonly isList?: boolean;
  /** Whether the answer goes into `.env`, which can't hold every text. */
  readonly isSecret?: boolean;
  /** Replaces the setting's own check. */
  readonly check?: (answer: string, check: CheckAnswer) => string | undefined;
}

/** Returns what is wrong with an answer; undefined if nothing is. */
type CheckAnswer = (rule: AnswerRule, answer: string) => string | undefined;

/** An option of `init` that a kind of source understands. */
export interface SourceFlag {
  /** What stands for its value in the help: `<path>`. */
  readonly value: string;
  readonly help: string;
  /** The values to choose from; any other value is checked by the rule. */
  readonly choices?: readonly string[];
  readonly rule?: AnswerRule | ((options: SourceOptions, known: KnownSecrets) => AnswerRule);
  /** The option requires one of these values of another option. */
  readonly goesWith?: { readonly option: string; readonly values: readonly string[] };
  /** The message for a URL with a password: others on the machine can see the command line. */
  readonly ifPassword?: string;
  /** The option requires a path with this scheme. */
  readonly scheme?: 's3' | 'sftp';
}

/** By name: `pageSize` is the option `--page-size`. The command line, its help and its checks are made from them. */
export type SourceFlags = Readonly<Record<string, SourceFlag>>;

/** The options of one kind of source. */
export type OptionsOf<Flags extends SourceFlags> = {
  readonly [Name in keyof Flags]?: Flags[Name] extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : string;
};

/** `--page-size` */
export function writeFlag(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The environment variables, or those of `.env`, from which a written configuration takes a source's secrets. */
export const sourceVariables = {
  /** The address of a database, with its password. */
  sourceUrl: 'HOTEL_REVIEW_SOURCE_URL',
  /** A bearer token. */
  sourceToken: 'HOTEL_REVIEW_SOURCE_TOKEN',
  /** Of an API, or of the SFTP server that holds the files. */
  sourcePassword: 'HOTEL_REVIEW_SOURCE_PASSWORD',
  /** The value of a header. */
  sourceKey: 'HOTEL_REVIEW_SOURCE_KEY',
  s3Endpoint: 'AWS_ENDPOINT_URL_S3',
  s3Region: 'AWS_REGION',
  s3KeyId: 'AWS_ACCESS_KEY_ID',
  s3Secret: 'AWS_SECRET_ACCESS_KEY',
} as const;

type SourceSecret = keyof typeof sourceVariables;

/** Secrets that the environment or an existing `.env` already has. */
export type KnownSecrets = (name: SourceSecret) => string | undefined;

export interface Choice<Value extends string> {
  readonly message: string;
  readonly choices: readonly { readonly value: Value; readonly label: string }[];
  readonly fallback: Value;
}

/** The questions of `init`. An option answers its question, except when the questions are asked again. */
export interface Questions {
  /** Undefined for no answer. */
  text(question: {
    readonly rule: AnswerRule;
    readonly message: string;
    /** The option's value. */
    readonly given?: string | undefined;
    readonly fallback?: string | undefined;
    /** A shell expands `~/`; here that has to be done. */
    readonly isPath?: boolean;
  }): Promise<string | undefined>;
  choose<Value extends string>(
    name: string,
    given: Value | undefined,
    question: Choice<Value>,
  ): Promise<Value>;
  /** The option's value, unless the questions are asked again. */
  takeOption<Given>(given: Given | undefined): Given | undefined;
  known: KnownSecrets;
  /** A known secret, or one that is typed without being shown. */
  secret(question: {
    readonly secret: SourceSecret;
    readonly rule: AnswerRule;
    readonly message: string;
  }): Promise<string | undefined>;
  /** Keeps a secret that was given in another way. */
  keep(name: SourceSecret, value: string): void;
}

/** Writes settings as commented YAML lines. Descriptions and defaults come from the schema. */
export interface SettingWriter {
  comment(text: string, indent?: string): string[];
  commentOut(lines: readonly string[], indent: string): string[];
  group(path: SettingPath): string[];
  setting(path: SettingPath, value: string | number | readonly string[]): string[];
  /** A setting, or its placeholder under a note that says what to put in. */
  answer(
    path: SettingPath,
    value: string | undefined,
    unknown: { readonly text: string; readonly what: string },
  ): string[];
  /** A text of several lines, written as a block where YAML can do so plainly. */
  text(path: SettingPath, value: string): string[];
  /** A setting that takes its value from an environment variable. */
  reference(path: SettingPath, variable: string): string[];
  /** The same without the description. @param before what stands before the variable's value */
  bareReference(path: SettingPath, variable: string, before?: string): string;
  /** A commented-out setting with its default. */
  option(path: SettingPath): string[];
}

/** The first bookings of a day as the source returns them. They may name guests and are never shown. */
export interface Sample {
  /** The names as `source.columns` would name them: a member of a nested object is `guest.name`. */
  readonly columns: readonly string[];
  /** By column; values that are no texts, numbers or booleans are left out. */
  readonly records: readonly ReadonlyMap<string, string>[];
  /** CSV only. */
  readonly delimiter: string | undefined;
  /** CSV only: how many lines stand above the header. */
  readonly skipRows?: number | undefined;
  /** Files only. */
  readonly encoding?: string | undefined;
  /** What else fits, if the encoding is only a guess. */
  readonly otherEncodings?: readonly string[] | undefined;
  /** The file states its encoding, whatever is configured. */
  readonly isMarked?: boolean;
}

/** @throws SourceError as the source itself throws it; the signal's reason when it aborts */
export type SampleDay = (day: BusinessDay, signal: AbortSignal) => Promise<Sample>;

/** Enough records: a few may be broken, many dates don't tell day from month, and few bookings are cancelled. */
export const sampleRecords = 500;

/** A kind's part of `init`: it asks for the settings, writes them, and takes a sample. */
export interface SourceSetup<Answers, Settings, Options = SourceOptions> {
  /** The choice in the question for the kind. */
  readonly label: string;
  /** Whether the options, with no `--kind`, can only mean this kind. */
  isImpliedBy?(options: Options): boolean;
  /** Whether a file of this name most likely belongs to this kind. */
  suits?(path: string): boolean;
  /** Says why the options can't be used together; undefined if they can. */
  checkOptions?(
    options: Options,
    circumstances: { readonly asks: boolean; readonly known: KnownSecrets },
  ): string | undefined;
  ask(options: Options, questions: Questions): Promise<Answers>;
  /** The secrets that the source needs, in the order in which `.env` has them. */
  listSecrets(answers: Answers): readonly SourceSecret[];
  /**
   * The settings of the group `source` that follow `kind`.
   *
   * @param found what examining a day found out: the lines for its records, and the form of a file
   */
  render(
    answers: Answers,
    write: SettingWriter,
    found: Pick<Sample, 'delimiter' | 'skipRows' | 'encoding' | 'otherEncodings'> & {
      readonly records: readonly string[];
    },
  ): string[];
  /** The path of the day's file, where it is on this machine: `init` looks for the newest one. */
  findDayFile?(answers: Answers): string | undefined;
  /** The template of a day's file on a server, if that is where it is. */
  findRemoteFile?(answers: Answers): string | undefined;
  /** A file that has to exist before anything can be tried. */
  findProgram?(answers: Answers): string;
  sample(settings: Settings, parts: SourceParts): SampleDay;
  /** Why a sample shows nothing about the settings; undefined if it does. Quotes nothing of the sample. */
  findObjection(sample: Sample, day: BusinessDay): string | undefined;
}
