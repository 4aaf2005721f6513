import { dirname, resolve } from 'node:path';
import {
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
} from 'yaml';
import { type Origin, substituteVariables } from './environment.js';
import { ConfigurationError, formatPath, type Problem } from './problems.js';

/** The content of the file with variables filled in, not checked yet. */
export interface SettingsTree {
  readonly tree: unknown;
  /** By the paths of the settings, the origins of values that are not in the file itself. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** Missing variables, whose texts stay in the tree as written. */
  readonly problems: readonly Problem[];
}

export interface ReadRequest {
  readonly text: string;
  /** The file's name in messages. */
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

const indentation = 'a wrong indentation, or a missing line break';

/** In place of the parser's own messages, which quote the text. */
const faults: Partial<Record<ErrorCode, string>> = {
  BLOCK_AS_IMPLICIT_KEY: indentation,
  MULTILINE_IMPLICIT_KEY: indentation,
  BAD_DQ_ESCAPE: 'an unknown escape between double quotes (a backslash is written \\\\ there)',
  BAD_INDENT: 'a wrong indentation',
  BAD_SCALAR_START: 'a text that needs quotes',
  DUPLICATE_KEY: 'a duplicate name',
  MISSING_CHAR: 'a missing quote, bracket or space',
  MULTIPLE_DOCS: 'a second document',
  TAB_AS_INDENT: 'a tab as indentation',
  TAG_RESOLVE_FAILED: 'a tag (a text that begins with ! needs quotes)',
};

/**
 * Reads YAML 1.2 and replaces `${NAME}` and `${file:PATH}` in texts. A setting without a value counts as absent.
 *
 * @throws ConfigurationError if the text is not YAML, or not a group of settings
 */
export function readSettings({ text, file, env }: ReadRequest): SettingsTree {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    strict: true,
    uniqueKeys: true,
    prettyErrors: false,
    lineCounter: lines,
  });
  const found = [...document.errors, ...document.warnings].map(({ code, pos: [offset] }) =>
    notYaml(offset, faults[code] ?? `a mistake (${code})`),
  );
  // The parser may say several things of one place.
  const faulty = found.filter(({ path }, at) => found.findIndex((one) => one.path === path) === at);
  const folder = dirname(resolve(file));
  const problems: Problem[] = [];
  const origins = new Map<string, Origin>();

  function notYaml(offset: number, got: string): Problem {
    const { line, col } = lines.linePos(offset);
    return { path: `line ${line}, column ${col}`, message: `expected YAML, got: ${got}` };
  }

  function take(node: ParsedNode | null, path: readonly PropertyKey[]): unknown {
    if (isMap(node)) {
      const members = node.items.flatMap(({ key, value }): [string, unknown][] => {
        if (isUnwritten(value)) return [];
        const name = isScalar(key) ? String(key.value) : '';
        if (!isScalar(key)) faulty.push(notYaml(key.range[0], 'a name that is not a text'));
        return [[name, take(value, [...path, name])]];
      });
      return Object.fromEntries(members);
    }
    if (isSeq(node)) return node.items.map((item, index) => take(item, [...path, index]));
    if (isAlias(node)) {
      // Here a password that begins with an asterisk is more likely than an alias.
      faulty.push(notYaml(node.range[0], 'an alias (a text that begins with * needs quotes)'));
      return undefined;
    }
    return typeof node?.value === 'string' ? fillIn(node.value, formatPath(path)) : node?.value;
  }

  function fillIn(written: string, path: string): string {
    const { filled, origin, complaints } = substituteVariables(written, env, folder);
    if (origin !== undefined) origins.set(path, origin);
    problems.push(...complaints.map((message) => ({ path, message })));
    return complaints.length > 0 ? written : filled;
  }

  const tree = faulty.length > 0 || isUnwritten(document.contents) ? {} : take(document.contents, []);
  if (faulty.length > 0) throw new ConfigurationError(file, faulty);
  return { tree, origins, problems };
}

/** `name:` followed by nothing or a comment; not an explicit `null`. */
function isUnwritten(node: ParsedNode | null): boolean {
  return node === null || (isScalar(node) && node.value === null && !node.source);
}
