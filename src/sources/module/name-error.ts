/** What of an error of somebody else's code can be told to anybody: its class, its code and where it came from. */
export interface ErrorName {
  /** The class. */
  readonly name: string;
  readonly code: string | undefined;
  /** `TypeError ECONNRESET at readPage (/srv/bookings.mjs:12:9)` */
  readonly words: string;
}

export function nameError(error: unknown): ErrorName {
  if (!(error instanceof Error))
    return { name: typeof error, code: undefined, words: `a ${typeof error} that is no Error` };
  const code =
    'code' in error && typeof error.code === 'string' && /^\w+$/.test(error.code) ? error.code : undefined;
  // Anybody can call an error anything.
  const name = /^\w{1,60}$/.test(error.name) ? error.name : 'Error';
  const frames = listFrames(error);
  const frame = frames.find((one) => !/node:|<anonymous>|node_modules/.test(one)) ?? frames[0];
  return { name, code, words: [name, code, frame].filter((word) => word !== undefined).join(' ') };
}

/** The frames of an error's stack, without its message, which might quote a booking. */
export function listFrames(error: Error): readonly string[] {
  return (error.stack ?? '')
    .replace(error.message, () => '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '));
}
