import { wrapText } from '../base/format.js';
import type { WriteCommand } from '../base/shell.js';

/** What to do, as half sentences with a command each: `to list them`, `affected 2026-11-20`. */
export type Advice = readonly (readonly [when: string, line: string])[];

/** Something to say, and what to do about it. */
export interface Note {
  /** `attention`: somebody has to act. `warning`: somebody should look, though the day may be good. */
  readonly level?: 'attention' | 'warning' | 'note';
  /** A sentence without its full stop, in plain text. */
  readonly words: string;
  readonly advice?: Advice;
}

/** What is worth saying about a day or a run. Each place shows it in its own way: the words are the same. */
export interface Finding extends Note {
  readonly code: FindingCode;
  readonly level: NonNullable<Note['level']>;
}

export type FindingCode =
  | 'state'
  | 'incomplete'
  | 'affected'
  | 'unanswered'
  | 'refused'
  | 'posted'
  | 'suspects'
  | 'volume'
  | 'uncompared'
  | 'implausible'
  | 'filter'
  | 'canary'
  | 'late'
  | 'reason'
  | 'result'
  | 'mailbox'
  | 'repaired';

/** In one line, with commands as messages name them. */
export function tellFinding({ words, advice = [] }: Finding): string {
  const steps = advice.map(([when, line]) => `${when}, \`${line}\``);
  return steps.length === 0 ? words : `${words}${words.includes(': ') ? ';' : ':'} ${steps.join('; ')}`;
}

/** Whether the day waits for somebody to accept it. */
export function isDecision({ code, advice = [] }: Finding): boolean {
  return (code === 'volume' || code === 'implausible') && advice.length > 0;
}

/** A line for each step. */
export function adviseInLines(advice: Advice, command: WriteCommand): string[] {
  return advice.map(([when, line]) => `${capitalise(when)}: ${command(line)}`);
}

/** Lines of a terminal, with commands to copy. */
export function renderNotes(notes: readonly Note[], command: WriteCommand): string[] {
  return notes.flatMap(({ level = 'note', words, advice = [] }) => [
    ...wrapText(level === 'note' ? words : `warning: ${words}`),
    ...adviseInLines(advice, command).map((line) => `    ${line}`),
  ]);
}

export function capitalise(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

export function toSentence(words: string): string {
  return `${capitalise(words)}${/[.!?]$/.test(words) ? '' : '.'}`;
}
