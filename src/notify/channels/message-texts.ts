import { joiner, makeVisible, showInLine } from '../../base/foreign-text.js';
import { type Html, html } from '../../base/html.js';
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

/**
 * Text in which nothing that others wrote becomes a link or calls people, in any program that shows it or passes it on: no
 * address with its scheme or `www`, no name of a Windows share, no link of Markdown, no `@channel`, no `<!channel>`. Bare names of hosts
 * are broken where they are quoted (`breakHostNames`).
 */
export function disarm(text: string): string {
  return text.replace(live, `$&${joiner}`);
}

const live =
  /:(?=\/\/)|\b(?:mailto|tel|sms):(?!\u2060)|\bwww\.(?!\u2060)|@(?=[^\s\u2060])|\\(?=\\)|\](?=[([])|<(?=[!@#a-z/])/gi;

/** Makes the characters of Markdown that can stand within a line ordinary ones. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\*_~`[\]|#]/g, '\\$&');
}

/** The same for a page: mail programs make links of bare names, too, but not across an element. Nothing is added to the text. */
export function unlinked(text: string): Html {
  const parts = text.split(/(?<=\S)([.:@])(?=\S)/);
  return html`${parts.map((part, at) => (at % 2 === 0 ? html`${part}` : html`<span>${part}</span>`))}`;
}
