import { UsageError } from '../../base/usage-error.js';
import { holdsPassword } from '../../config/locations.js';
import {
  type AnswerRule,
  type KnownSecrets,
  type SourceFlag,
  type SourceOptions,
  writeFlag,
} from '../../sources/common/setup.js';
import { type SourceKindName, sourceKinds } from '../../sources/registry.js';
import { checkAnswer, listSetups, rules } from './answers.js';

/** What is known of the configuration before any question. There are no options for secrets. */
export interface InitOptions extends SourceOptions {
  readonly kind?: SourceKindName | undefined;
  readonly path?: string | undefined;
  /** The day to examine, YYYY-MM-DD. */
  readonly day?: string | undefined;
  readonly timezone?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly delivery?: 'body' | 'file' | undefined;
  /** Accepted bookings of a usual day. */
  readonly usualBookings?: number | undefined;
  readonly sftpHost?: string | undefined;
  readonly sftpPort?: number | undefined;
  readonly sftpUsername?: string | undefined;
  readonly sftpKeyFile?: string | undefined;
  /** Ask nothing. */
  readonly yes: boolean;
}

const list = new Intl.ListFormat('en', { type: 'disjunction' });

/** How the options are checked that don't depend on the kind of source. */
const generalRules: Readonly<Record<string, AnswerRule>> = {
  timezone: rules.timezone,
  baseUrl: rules.baseUrl,
  usualBookings: rules.usualBookings,
  delivery: rules.delivery,
  sftpHost: rules.sftpHost,
  sftpPort: rules.sftpPort,
  sftpUsername: rules.sftpUsername,
  sftpKeyFile: rules.sftpKeyFile,
};

interface Circumstances {
  /** Whether there is a person to ask for what the options leave open. */
  readonly asks: boolean;
  readonly known: KnownSecrets;
}

/** @throws UsageError for an option that the configuration would refuse, or that goes with something else */
export function checkOptions(options: InitOptions, circumstances: Circumstances): void {
  for (const [name, rule] of Object.entries(generalRules)) {
    if (options[name] === undefined) continue;
    refuse(name, checkAnswer(rule, String(options[name])));
    if (isOfServer(name) && options.delivery === 'body') {
      throw new UsageError(`${writeFlag(name)} goes with --delivery file`);
    }
  }
  checkSourceOptions(options, circumstances);
}

function isOfServer(name: string): boolean {
  return /^sftp[A-Z]/.test(name);
}

/** Options for a server imply delivery by file. */
export function namesServer(options: InitOptions): boolean {
  return Object.keys(generalRules).some((name) => isOfServer(name) && options[name] !== undefined);
}

/** The kind of source that the options leave no doubt about. */
export function findImpliedKind(options: InitOptions): SourceKindName | undefined {
  return options.kind ?? listSetups().find(({ isImpliedBy }) => isImpliedBy?.(options))?.name;
}

/** The most likely kind for a file of this name. */
export function suggestKind(path = ''): SourceKindName {
  const [usual, ...others] = listSetups();
  const name = others.find(({ suits }) => suits?.(path))?.name ?? usual?.name;
  if (name === undefined) throw new RangeError('there is no kind of source');
  return name;
}

function checkSourceOptions(options: InitOptions, { asks, known }: Circumstances): void {
  const kind =
    findImpliedKind(options) ?? (asks && options.path === undefined ? undefined : suggestKind(options.path));
  for (const name of new Set(sourceKinds.flatMap(({ flags }) => Object.keys(flags)))) {
    const value = options[name];
    if (value === undefined) continue;
    const owners = sourceKinds.filter(({ flags }) => flags[name] !== undefined);
    const owner = kind === undefined ? owners[0] : owners.find((one) => one.name === kind);
    const flag = owner?.flags[name];
    if (flag === undefined) {
      throw new UsageError(
        `${writeFlag(name)} goes with --kind ${list.format(owners.map((one) => one.name))}`,
      );
    }
    refuse(name, findFault(flag, String(value), options, known));
  }
  for (const { flags } of sourceKinds) {
    for (const [name, flag] of Object.entries(flags)) {
      const companion = options[name] === undefined ? undefined : findMissingCompanion(flag, options);
      if (companion !== undefined) throw new UsageError(`${writeFlag(name)} goes with ${companion}`);
    }
  }
  const complaint = listSetups()
    .filter(({ name }) => kind === undefined || name === kind)
    .map((setup) => setup.checkOptions?.(options, { asks, known }))
    .find((one) => one !== undefined);
  if (complaint !== undefined) throw new UsageError(complaint);
}

function findFault(
  { rule, ifPassword }: SourceFlag,
  value: string,
  options: InitOptions,
  known: KnownSecrets,
): string | undefined {
  if (ifPassword !== undefined && holdsPassword(value)) return ifPassword;
  const found = typeof rule === 'function' ? rule(options, known) : rule;
  return found === undefined ? undefined : checkAnswer(found, value);
}

function findMissingCompanion({ scheme, goesWith }: SourceFlag, options: InitOptions): string | undefined {
  if (scheme !== undefined && !options.path?.toLowerCase().startsWith(`${scheme}:`)) {
    return `a --path of ${scheme}://…`;
  }
  if (goesWith === undefined) return undefined;
  const { option, values } = goesWith;
  return values.includes(String(options[option])) ? undefined : `${writeFlag(option)} ${list.format(values)}`;
}

function refuse(name: string, complaint: string | undefined): void {
  if (complaint !== undefined) throw new UsageError(`${writeFlag(name)}: ${complaint}`);
}
