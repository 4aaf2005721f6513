import type * as z from 'zod';
import { findKinds } from './outline.js';

/**
 * The schema checks nothing of a group whose `kind` it does not know. All mistakes are to be told at once, so what is wrong
 * whichever kind was meant is found here.
 *
 * @param issue where the kind is unknown
 * @param valueAt the settings as written
 */
export function findMistakesOfEveryKind(
  issue: z.core.$ZodIssueInvalidUnion,
  schema: z.core.$ZodType,
  valueAt: (path: readonly PropertyKey[]) => unknown,
): z.core.$ZodIssue[] {
  const path = issue.path.slice(0, -1);
  const kind = issue.path.at(-1);
  const [first = [], ...others] = findKinds(schema, path).map((group) =>
    (group.safeParse(valueAt(path)).error?.issues ?? [])
      .flatMap(splitNames)
      .filter((one) => one.path[0] !== kind),
  );
  const known = others.map((issues) => new Set(issues.map(identify)));
  return first
    .filter((one) => known.every((identities) => identities.has(identify(one))))
    .map((one) => ({ ...one, path: [...path, ...one.path] }));
}

/** One issue tells all unknown names, and a name may be known to one kind only. */
function splitNames(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ ...issue, keys: [key] })) : [issue];
}

function identify(issue: z.core.$ZodIssue): string {
  return JSON.stringify([issue.path, issue.code === 'unrecognized_keys' ? issue.keys : issue.message]);
}
