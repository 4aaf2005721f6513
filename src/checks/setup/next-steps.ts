import { relative } from 'node:path';
import type { ServiceField } from '../../booking/booking.js';

export interface Outcome {
  /** As given with `--config`. */
  readonly config: string;
  readonly env: string;
  /** The variables that still have to be put into `.env`. */
  readonly missingSecrets: readonly string[];
  /** Whether the configuration has something to fill in. */
  readonly hasPlaceholders: boolean;
  /** The file of a bookings module that doesn't exist yet. */
  readonly module?: string | undefined;
  /** The fields for which no column was found in an existing export. */
  readonly missing?: readonly ServiceField[];
  /** A day to try: that of an existing file, otherwise yesterday. YYYY-MM-DD */
  readonly day: string;
  /** Writes a command as a person would type it here. */
  readonly command: (words: string) => string;
}

const list = new Intl.ListFormat('en');

/** What to do after `init`, in that order. */
export function listNextSteps(outcome: Outcome): string[] {
  const { config, env, missingSecrets, hasPlaceholders, module, missing = [], day, command } = outcome;
  return [
    ...(missingSecrets.length > 0 ? [`put ${list.format(missingSecrets)} into ${env}`] : []),
    ...(hasPlaceholders ? [`fill in what ${config} marks as PLACEHOLDER`] : []),
    ...(module === undefined
      ? []
      : [`write ${module}: docs/sources.md says how, examples/bookings.mjs is an example`]),
    ...askForColumns(config, missing),
    command('doctor'),
    command(`run --day ${day} --dry-run`),
  ];
}

function askForColumns(config: string, missing: readonly ServiceField[]): string[] {
  const optional = missing.filter((field) => field !== 'ServiceId');
  const [only] = optional;
  const steps = missing.includes('ServiceId')
    ? [`say in ${config} which column holds ServiceId, the master hotel id: without it nothing is sent`]
    : [];
  if (only === undefined) return steps;
  return optional.length === 1
    ? [...steps, `say in ${config} which column holds ${only}: without it ${only} is not sent`]
    : [
        ...steps,
        `say in ${config} which columns hold ${list.format(optional)}: without them they are not sent`,
      ];
}

/** A path as a person in that folder writes it. */
export function showPath(path: string, folder: string): string {
  const shown = relative(folder, path);
  return shown === '' || shown.startsWith('..') ? path : shown;
}
