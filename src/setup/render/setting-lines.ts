import { stringify } from 'yaml';
import { readSettingFacts } from '../../config/single-setting.js';

export type Path = readonly [string, ...string[]];

/** Of a source, where several kinds have a setting of the same name. */
type Kind = string | undefined;

const width = 100;

/** A comment, wrapped; `indent` stands before its sign. */
export function writeComment(text: string, indent = ''): string[] {
  const room = width - indent.length - 2;
  const words = text.replace(/[\p{Cc}\u2028\u2029]/gu, '\uFFFD').split(' ');
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.pop();
    if (last === undefined) lines.push(word);
    else if (last.length + 1 + word.length > room) lines.push(last, word);
    else lines.push(`${last} ${word}`);
  }
  return lines.map((line) => `${indent}# ${line}`);
}

/** The head of a group of settings, under its description. */
export function writeGroup(path: Path, kind?: Kind): string[] {
  return [...describe(path, kind), `${indentOf(path)}${path.at(-1)}:`];
}

/** A setting under its description, and under what else is to be said of it. A `${` in the value means itself. */
export function writeSetting(path: Path, value: string | number, note?: string, kind?: Kind): string[] {
  const said = note === undefined ? [] : writeComment(note, indentOf(path));
  return [...describe(path, kind), ...said, writeValue(path, value)];
}

/** The same for a text of several lines, which stand there as lines where YAML can write them so without more ado. */
export function writeTextSetting(path: Path, value: string, note?: string): string[] {
  const indent = indentOf(path);
  const block = stringify(escapeReferences(value), { blockQuote: 'literal', lineWidth: 0 }).trimEnd();
  if (!block.startsWith('|-\n')) return writeSetting(path, value, note);
  const said = note === undefined ? [] : writeComment(note, indent);
  const [head, ...lines] = block.split('\n');
  const shifted = lines.map((line) => (line === '' ? line : `${indent}  ${line}`));
  return [...describe(path), ...said, `${indent}${path.at(-1)}: ${head}`, ...shifted];
}

/** A setting that takes a variable of the environment. */
export function writeReference(path: Path, variable: string, kind?: Kind): string[] {
  return [...describe(path, kind), writeVariable(path, variable)];
}

/** The same alone, without its description. */
export function writeVariable(path: Path, variable: string): string {
  const name = path.at(-1) ?? '';
  const written = /^[a-z][\w-]*$/i.test(name) ? name : JSON.stringify(name);
  return `${indentOf(path)}${written}: "\${${variable}}"`;
}

/** The same behind the sign of a comment, for whoever has such a variable. */
export function writeOptionalReference(path: Path, variable: string): string[] {
  return [...describe(path), ...commentOut([writeVariable(path, variable)], indentOf(path))];
}

/** A setting alone, without its description. */
export function writeValue(path: Path, value: string | number): string {
  const meant = typeof value === 'string' ? escapeReferences(value) : value;
  return `${indentOf(path)}${path.at(-1)}: ${writeScalar(meant)}`;
}

/** A setting that is commented out, with its default. */
export function writeOption(path: Path, kind?: Kind): string[] {
  return [...describe(path, kind), ...commentOut([writeScalarSetting(path, kind)], indentOf(path))];
}

/** A group that is commented out, with the defaults of some of its settings. */
export function writeOptionalGroup(path: Path, names: readonly string[]): string[] {
  const members = names.flatMap((name): string[] => {
    const member: Path = [...path, name];
    return [...describe(member), writeScalarSetting(member)];
  });
  return [...describe(path), ...commentOut([`${indentOf(path)}${path.at(-1)}:`, ...members], indentOf(path))];
}

/** Lines as they would stand there, behind the sign of a comment. */
export function commentOut(lines: readonly string[], indent: string): string[] {
  return lines.map((line) => `${indent}# ${line.slice(indent.length)}`);
}

function writeScalarSetting(path: Path, kind?: Kind): string {
  return `${indentOf(path)}${path.at(-1)}: ${writeScalar(readSettingFacts(path, kind).fallback)}`;
}

function describe(path: Path, kind?: Kind): string[] {
  return writeComment(readSettingFacts(path, kind).description, indentOf(path));
}

/** What has the form of a variable is meant as it stands. */
function escapeReferences(value: string): string {
  return value.replaceAll('${', () => '$${');
}

function indentOf(path: Path): string {
  return '  '.repeat(path.length - 1);
}

function writeScalar(value: unknown): string {
  return stringify(value, {
    blockQuote: false,
    lineWidth: 0,
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  }).trimEnd();
}
