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
import { substituteVariables } from './environment.js';
import { ConfigurationError, formatPath, type Problem } from './problems.js';

/** What stands in the file, the environment's texts filled in, nothing checked yet. */
export interface SettingsTree {
  readonly tree: unknown;
  /** The settings that hold something from the environment, as paths. */
  readonly fromEnvironment: ReadonlySet<string>;
  /** Variables that could not be had. The tree holds the text as written there. */
  readonly problems: readonly Problem[];
}

export interface ReadRequest {
  readonly text: string;
  /** Names the file in messages. */
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Said instead of the parser's own words, which quote the text. */
const faults: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'an unknown escape between double quotes (a backslash is written \\\\ there)',
  BAD_INDENT: 'a wrong indentation',
  BAD_SCALAR_START: 'a text that must stand in quotes',
  DUPLICATE_KEY: 'a name that stands there twice',
  MISSING_CHAR: 'something without its closing quote, its bracket or a space',
  MULTIPLE_DOCS: 'a second document',
  TAB_AS_INDENT: 'a tab as indentation',
  TAG_RESOLVE_FAILED: 'a tag (a text that begins with ! must stand in quotes)',
};

/**
 * Reads YAML 1.2 and fills in `${NAME}`, inside of texts only. A setting without a value counts as not written.
 *
 * @throws ConfigurationError for text that is no YAML, or no group of settings.
 */
export function readSettings({ text, file, env }: ReadRequest): SettingsTree {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    strict: true,
    uniqueKeys: true,
    prettyErrors: false,
    lineCounter: lines,
  });
  const faulty: Problem[] = [...document.errors, ...document.warnings].map(({ code, pos: [offset] }) =>
    notYaml(offset, faults[code] ?? `a mistake (${code})`),
  );
  const problems: Problem[] = [];
  const fromEnvironment = new Set<string>();

  function notYaml(offset: number, got: string): Problem {
    const { line, col } = lines.linePos(offset);
    return { path: `line ${line}, column ${col}`, message: `expected YAML, got: ${got}` };
  }

  function take(node: ParsedNode | null, path: readonly PropertyKey[]): unknown {
    if (isMap(node)) {
      const members = node.items.flatMap(({ key, value }): [string, unknown][] => {
        if (isUnwritten(value)) return [];
        const name = isScalar(key) ? String(key.value) : '';
        if (!isScalar(key)) faulty.push(notYaml(key.range[0], 'a name that is no text'));
        return [[name, take(value, [...path, name])]];
      });
      return Object.fromEntries(members);
    }
    if (isSeq(node)) return node.items.map((item, index) => take(item, [...path, index]));
    if (isAlias(node)) {
      // A password that begins with an asterisk is likelier here than a wish to write something once.
      faulty.push(notYaml(node.range[0], 'an alias (a text that begins with * must stand in quotes)'));
      return undefined;
    }
    return typeof node?.value === 'string' ? fillIn(node.value, formatPath(path)) : node?.value;
  }

  function fillIn(written: string, path: string): string {
    const { filled, isFromEnvironment, complaints } = substituteVariables(written, env);
    if (isFromEnvironment) fromEnvironment.add(path);
    problems.push(...complaints.map((message) => ({ path, message })));
    return complaints.length > 0 ? written : filled;
  }

  const tree = faulty.length > 0 || isUnwritten(document.contents) ? {} : take(document.contents, []);
  if (faulty.length > 0) throw new ConfigurationError(file, faulty);
  return { tree, fromEnvironment, problems };
}

/** `name:` and nothing after it, or only comments; not a `null` that somebody wrote. */
function isUnwritten(node: ParsedNode | null): boolean {
  return node === null || (isScalar(node) && node.value === null && !node.source);
}
