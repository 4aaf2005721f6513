/** `<target>` and what is said of it, up to the comma that is neither quoted nor in a target. */
const link = /<([^>]*)>((?:[^",<]|"(?:[^"\\]|\\.)*")*)/g;
/** A parameter and its value, if it has one; what stands in quotes is never taken for another parameter. */
const parameter = /;\s*([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/g;

/**
 * The target of the first link whose relation is `next`, as it is written; undefined where there is none. (RFC 8288.)
 *
 * @param header the fields `Link`, joined by commas
 */
export function findNextLink(header: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(link)) {
    // Of several the first counts; a relation may be a list of words, and case doesn't count.
    const [, , quoted, plain] =
      [...parameters.matchAll(parameter)].find(([, name]) => name?.toLowerCase() === 'rel') ?? [];
    const relations = (quoted ?? plain ?? '').toLowerCase().split(/\s+/);
    if (relations.includes('next')) return target?.trim();
  }
  return undefined;
}
