import { type Html, html } from '../text/html.js';

/** Invisible. No program takes what follows it for the rest of a link or a mention. */
const joiner = '\u2060';

/**
 * Text in which nothing that others wrote becomes a link or calls people, in any program that shows it or passes it on: no
 * address with its scheme or `www`, no link of Markdown, no `@channel`, no `<!channel>`.
 */
export function disarm(text: string): string {
  return text.replace(/:(?=\/\/)|\bmailto:|\bwww\.|@(?=\S)|\](?=[([])|<(?=[!@#a-z/])/gi, `$&${joiner}`);
}

/** Makes the characters of Markdown that can stand within a line ordinary ones. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\*_~`[\]|#]/g, '\\$&');
}

/** The same for a page: mail programs make links of bare names, too, but not across an element. Nothing is added to the text. */
export function unlinked(text: string): Html {
  const parts = text.split(/(?<=\S)([.:@])(?=\S)/);
  return html`${parts.map((part, at) => (at % 2 === 0 ? html`${part}` : html`<span>${part}</span>`))}`;
}
