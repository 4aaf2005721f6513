import { makeVisible, showInLine } from '../../base/foreign-text.js';
import type { Message } from '../channel.js';

/** Titles and texts may quote names that others chose: none of them may forge a line, a header or a terminal's colours. */
export function withSafeTexts(message: Message): Message {
  return {
    ...message,
    title: showInLine(message.title.toWellFormed()),
    text: makeVisible(message.text.toWellFormed()),
  };
}

/** What people read below the texts: `critical · day-late · 2026-11-20`. */
export function summarise({ severity, event, stage, day, runId }: Message): string {
  return [severity, event, stage === 'raised' ? undefined : stage, day, runId]
    .filter((part) => part !== undefined)
    .join(' · ');
}

/** Whether a message ends its incident. */
export function endsIncident({ event, stage }: Message): boolean {
  return stage === 'recovered' || event === 'day-recovered';
}
