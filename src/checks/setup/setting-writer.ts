import { stringify } from 'yaml';
import { readSettingFacts } from '../../config/single-setting.js';
import type { SettingPath as Path, SettingWriter } from '../../sources/common/setup.js';

const width = 100;

/** A wrapped comment. */
function writeComment(text: string, indent = ''): string[] {
  const available = width - indent.length - 2;
  const words = text.replace(/[\p{Cc}\u2028\u2029]/gu, '\uFFFD').split(' ');
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.pop();
    if (last === undefined) lines.push(word);
    else if (last.length + 1 + word.length > available) lines.push(last, word);
    else lines.push(`${last} ${word}`);
  }
  return lines.map((line) => `${indent}# ${line}`);
}

interface GeneralWriter extends SettingWriter {
  /** A setting without its description. */
  bare(path: Path, value: string | number | false): string;
  /** A commented-out group with the defaults of some of its settings. */
  optionalGroup(path: Path, names: readonly string[]): string[];
}

/** @param kind of the source, where several kinds have a setting of the same name */
export function createSettingWriter(kind?: string): GeneralWriter {
  const describe = (path: Path) => writeComment(readSettingFacts(path, kind).description, indentOf(path));
  const writeDefault = (path: Path) =>
    `${indentOf(path)}${path.at(-1)}: ${writeScalar(readSettingFacts(path, kind).fallback)}`;
  const writer: GeneralWriter = {
    comment: writeComment,
    commentOut,
    group: (path) => [...describe(path), `${indentOf(path)}${path.at(-1)}:`],
    setting: (path, value) => [...describe(path), writeValue(path, value)],
    bare: writeValue,
    answer(path, value, { text, what }) {
      if (value !== undefined) return writer.setting(path, value);
      return [
        ...describe(path),
        ...writeComment(`PLACEHOLDER: put in ${what}.`, indentOf(path)),
        writeValue(path, text),
      ];
    },
    text(path, value) {
      const indent = indentOf(path);
      const block = stringify(escapeReferences(value), { blockQuote: 'literal', lineWidth: 0 }).replace(
        /\n$/,
        '',
      );
      if (!block.startsWith('|-\n')) return writer.setting(path, value);
      const [head, ...lines] = block.split('\n');
      const indented = lines.map((line) => (line === '' ? line : `${indent}  ${line}`));
      return [...describe(path), `${indent}${path.at(-1)}: ${head}`, ...indented];
    },
    reference: (path, variable) => [...describe(path), writeReference(path, variable)],
    bareReference: writeReference,
    option: (path) => [...describe(path), ...commentOut([writeDefault(path)], indentOf(path))],
    optionalGroup(path, names) {
      const members = names.flatMap((name): string[] => {
        const member: Path = [...path, name];
        return [...describe(member), writeDefault(member)];
      });
      return [
        ...describe(path),
        ...commentOut([`${indentOf(path)}${path.at(-1)}:`, ...members], indentOf(path)),
      ];
    },
  };
  return writer;
}

function writeReference(path: Path, variable: string, before = ''): string {
  const name = path.at(-1) ?? '';
  const written = /^[a-z][\w-]*$/i.test(name) ? name : JSON.stringify(name);
  return `${indentOf(path)}${written}: ${JSON.stringify(`${before}\${${variable}}`)}`;
}

function writeValue(path: Path, value: string | number | false | readonly string[]): string {
  const name = `${indentOf(path)}${path.at(-1)}: `;
  if (Array.isArray(value))
    return `${name}[${value.map((item) => JSON.stringify(escapeReferences(item))).join(', ')}]`;
  return `${name}${writeScalar(typeof value === 'string' ? escapeReferences(value) : value)}`;
}

function commentOut(lines: readonly string[], indent: string): string[] {
  return lines.map((line) => `${indent}# ${line.slice(indent.length)}`);
}

/** A text that looks like a variable is meant literally. */
function escapeReferences(value: string): string {
  return value.replaceAll('${', () => '$${');
}

function indentOf(path: Path): string {
  return '  '.repeat(path.length - 1);
}

function writeScalar(value: unknown): string {
  const line = stringify(value, {
    blockQuote: false,
    lineWidth: 0,
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  });
  // Trimming would cut a no-break space off the end of a text.
  return line.replace(/\n$/, '');
}
