/** Markup that is safe to insert into a page. */
export class Html {
  constructor(readonly markup: string) {}
}

type Part = Html | string | number | false | undefined | readonly Html[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Writes markup; inserted values are escaped, unless they were written by this function. */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const markup = pieces.map((piece, at) => piece + (at < parts.length ? toMarkup(parts[at]) : ''));
  return new Html(markup.join(''));
}

function toMarkup(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.markup;
  if (typeof part === 'object') return part.map(({ markup }) => markup).join('');
  return String(part).replace(/[&<>"']/g, (letter) => entities[letter] ?? letter);
}
