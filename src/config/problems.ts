import { SafeError } from '../text/safe-error.js';

/** One thing to mend in the configuration. */
export interface Problem {
  /** The setting, for example `file.sftp.hostKey[1]`; a place such as `line 3, column 7`; or the file itself. */
  readonly path: string;
  /** Mostly `expected X, got: Y`. Never holds a secret, nor anything that came from the environment. */
  readonly message: string;
}

/** The configuration cannot be used: a person has to mend it first. Says everything that is wrong at once. */
export class ConfigurationError extends SafeError {
  override readonly name = 'ConfigurationError';
  constructor(
    /** As it was named by the caller. */
    readonly file: string,
    readonly problems: readonly Problem[],
  ) {
    super(
      [`${file} cannot be used:`, ...problems.map(({ path, message }) => `  ${path}: ${message}`)].join('\n'),
    );
  }
}

/** Written as in JavaScript: names with dots, places in a list in brackets. */
export function formatPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the whole file';
  return path.reduce<string>((before, part) => {
    if (typeof part === 'number') return `${before}[${part}]`;
    const name = String(part);
    if (!/^[\w-]+$/.test(name)) return `${before}[${JSON.stringify(name)}]`;
    return before === '' ? name : `${before}.${name}`;
  }, '');
}
