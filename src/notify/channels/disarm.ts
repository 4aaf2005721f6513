import { joiner } from '../../base/foreign-text.js';
import { type Html, html } from '../../base/html.js';

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
