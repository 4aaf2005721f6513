/** `<target>` and what is said of it, up to the comma that is neither quoted nor in a target. */
const link = /<([^>]*)>((?:[^",<]|"(?:[^"\\]|\\.)*")*)/g;
const relation = /;\s*rel\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]+))/i;

/**
 * The target of the first link whose relation is `next`, as it is written; undefined where there is none. (RFC 8288.)
 *
 * @param header the fields `Link`, joined by commas
 */
export function findNextLink(header: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(link)) {
    // Of several the first counts; a relation may be a list of words, and case doesn't count.
    const [, quoted, plain] = relation.exec(parameters) ?? [];
    const relations = (quoted ?? plain ?? '').toLowerCase().split(/\s+/);
    if (relations.includes('next')) return target?.trim();
  }
  return undefined;
}
