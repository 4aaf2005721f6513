import { readArchiveLocation } from './locations.js';
import type { Settings } from './schema.js';

/** A value of a setting that is understood and whose part is not built yet. */
export interface UnavailablePart {
  readonly setting: keyof Settings;
  /** The value, or how it begins. */
  readonly form: string;
  /** What can be had instead. */
  readonly available: string;
  readonly isMeantBy: (text: string) => boolean;
}

/** The line of a part goes when the part is built; nothing else has to change. */
export const unavailableParts: readonly UnavailablePart[] = [
  {
    setting: 'archive',
    form: 's3://',
    available: 'a folder',
    isMeantBy: (text) => readArchiveLocation(text)?.kind === 's3',
  },
];

/** In the shape of the schema's own issues, to be explained with them. */
export interface UnavailableIssue {
  readonly code: 'custom';
  readonly path: [UnavailablePart['setting']];
  /** `expected X`, as in every other kind of setting; what was there instead is added by whoever reports it. */
  readonly message: string;
}

/** Finds the settings, as they are written, that ask for a part that is not built yet. */
export function findUnavailable(
  settings: Readonly<Record<string, unknown>>,
  parts: readonly UnavailablePart[] = unavailableParts,
): UnavailableIssue[] {
  return parts
    .filter(({ setting, isMeantBy }) => {
      const value = settings[setting];
      return typeof value === 'string' && isMeantBy(value);
    })
    .map(({ setting, form, available }) => ({
      code: 'custom',
      path: [setting],
      message: `expected ${available} (${form} is not available in this version)`,
    }));
}
