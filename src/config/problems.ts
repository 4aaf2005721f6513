import { SafeError } from '../base/safe-error.js';

/** One thing to fix in the configuration. */
export interface Problem {
  /** The setting, for example `file.sftp.hostKey[1]`; a place such as `line 3, column 7`; or the file itself. */
  readonly path: string;
  /** Mostly `expected X, got: Y`. Never holds a secret or a value from the environment. */
  readonly message: string;
}

/** The configuration can't be used until it is fixed. Reports all problems at once. */
export class ConfigurationError extends SafeError {
  override readonly name = 'ConfigurationError';
  constructor(
    /** As the caller named it. */
    readonly file: string,
    readonly problems: readonly Problem[],
  ) {
    super(
      [`${file} cannot be used:`, ...problems.map(({ path, message }) => `  ${path}: ${message}`)].join('\n'),
    );
  }
}

/** As in JavaScript: names joined by dots, list indexes in brackets. */
export function formatPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the whole file';
  return path.reduce<string>((before, part) => {
    if (typeof part === 'number') return `${before}[${part}]`;
    const name = String(part);
    if (!/^[\w-]+$/.test(name)) return `${before}[${JSON.stringify(name)}]`;
    return before === '' ? name : `${before}.${name}`;
  }, '');
}
