import { holdsPassword } from '../config/locations.js';
import { UsageError } from '../review/refusals.js';
import type { AnswerRule, KnownSecrets, SourceFlag, SourceOptions } from '../sources/common/setup.js';
import type { SourceKindName } from '../sources/registry.js';
import { checkAnswer, listSetups, rules } from './answers.js';

/** What is known of the configuration before any question. There are no options for secrets. */
export interface InitOptions extends SourceOptions {
  readonly kind?: SourceKindName;
  /** The day to examine, YYYY-MM-DD. */
  readonly day?: string;
  readonly timezone?: string;
  readonly baseUrl?: string;
  readonly delivery?: 'body' | 'file';
  readonly sftpHost?: string;
  readonly sftpPort?: number;
  readonly sftpUsername?: string;
  readonly sftpKeyFile?: string;
  /** Ask nothing. */
  readonly yes: boolean;
}

const list = new Intl.ListFormat('en', { type: 'disjunction' });

/** The options that don't depend on the kind of source. */
const generalFlags: readonly {
  readonly name: keyof InitOptions;
  readonly flag: string;
  readonly rule: AnswerRule;
}[] = [
  { name: 'timezone', flag: '--timezone', rule: rules.timezone },
  { name: 'baseUrl', flag: '--base-url', rule: rules.baseUrl },
  { name: 'delivery', flag: '--delivery', rule: rules.delivery },
  { name: 'sftpHost', flag: '--sftp-host', rule: rules.sftpHost },
  { name: 'sftpPort', flag: '--sftp-port', rule: rules.sftpPort },
  { name: 'sftpUsername', flag: '--sftp-username', rule: rules.sftpUsername },
  { name: 'sftpKeyFile', flag: '--sftp-key-file', rule: rules.sftpKeyFile },
];

interface Circumstances {
  /** Whether there is a person to ask for what the options leave open. */
  readonly asks: boolean;
  readonly known: KnownSecrets;
}

/** @throws UsageError for an option that the configuration would refuse, or that goes with something else */
export function checkOptions(options: InitOptions, circumstances: Circumstances): void {
  for (const { name, flag, rule } of generalFlags) {
    if (options[name] === undefined) continue;
    refuse(flag, checkAnswer(rule, String(options[name])));
    if (flag.startsWith('--sftp-') && options.delivery === 'body') {
      throw new UsageError(`${flag} goes with --delivery file`);
    }
  }
  checkSourceOptions(options, circumstances);
}

/** Options for a server imply delivery by file. */
export function namesServer(options: InitOptions): boolean {
  return generalFlags.some(({ name, flag }) => flag.startsWith('--sftp-') && options[name] !== undefined);
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
  const setups = listSetups();
  const flags = new Map(
    setups.flatMap((setup) => setup.flags.map(({ name, flag }) => [name, flag] as const)),
  );
  for (const [name, flag] of flags) {
    const value = options[name];
    if (value === undefined) continue;
    const owners = setups.filter((setup) => setup.flags.some((own) => own.name === name));
    const owner = kind === undefined ? owners[0] : owners.find((setup) => setup.name === kind);
    if (owner === undefined) {
      throw new UsageError(`${flag} goes with --kind ${list.format(owners.map((setup) => setup.name))}`);
    }
    const own = owner.flags.find((one) => one.name === name);
    if (own !== undefined) refuse(flag, findFault(own, String(value), options, known));
  }
  for (const setup of setups) {
    for (const flag of setup.flags) {
      const complaint = options[flag.name] === undefined ? undefined : findMissingCompanion(flag, options);
      if (complaint !== undefined) throw new UsageError(complaint);
    }
  }
  const complaint = setups
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

function findMissingCompanion(
  { flag, scheme, goesWith }: SourceFlag,
  options: InitOptions,
): string | undefined {
  if (scheme !== undefined && !options.path?.toLowerCase().startsWith(`${scheme}:`)) {
    return `${flag} goes with a --path of ${scheme}://…`;
  }
  if (goesWith === undefined) return undefined;
  const value = options[goesWith.option];
  return value !== undefined && goesWith.values.includes(value)
    ? undefined
    : `${flag} goes with --${goesWith.option} ${list.format(goesWith.values)}`;
}

function refuse(flag: string, complaint: string | undefined): void {
  if (complaint !== undefined) throw new UsageError(`${flag}: ${complaint}`);
}
