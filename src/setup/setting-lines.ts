import { stringify } from 'yaml';
import { readSettingFacts } from '../config/setting-facts.js';

type Path = readonly [string, ...string[]];

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
export function writeGroup(path: Path): string[] {
  return [...describe(path), `${indentOf(path)}${path.at(-1)}:`];
}

/** A setting under its description, and under what else is to be said of it. A `${` in the value means itself. */
export function writeSetting(path: Path, value: string | number, note?: string): string[] {
  const said = note === undefined ? [] : writeComment(note, indentOf(path));
  return [...describe(path), ...said, writeValue(path, value)];
}

/** A setting that takes a variable of the environment. */
export function writeReference(path: Path, variable: string): string[] {
  return [...describe(path), `${indentOf(path)}${path.at(-1)}: "\${${variable}}"`];
}

/** A setting alone, without its description. */
export function writeValue(path: Path, value: string | number): string {
  const meant = typeof value === 'string' ? value.replaceAll('${', () => '$${') : value;
  return `${indentOf(path)}${path.at(-1)}: ${writeScalar(meant)}`;
}

/** A setting that is commented out, with its default. */
export function writeOption(path: Path): string[] {
  return [...describe(path), ...commentOut([writeScalarSetting(path)], indentOf(path))];
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

function writeScalarSetting(path: Path): string {
  return `${indentOf(path)}${path.at(-1)}: ${writeScalar(readSettingFacts(path).fallback)}`;
}

function describe(path: Path): string[] {
  return writeComment(readSettingFacts(path).description, indentOf(path));
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
