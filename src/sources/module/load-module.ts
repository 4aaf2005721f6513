import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { codeOf } from '../../base/safe-error.js';
import { SourceError } from '../../booking/source.js';

/** The exported function. It is only known to be callable. */
type LoadedBookings = (day: unknown, context: unknown) => unknown;

/**
 * @param onFailure called with an error that the file itself threw while it was loaded
 * @throws SourceError `missing`, or `unreadable` for a file that can't be loaded or exports no function `bookings`
 */
export async function loadBookings(
  path: string,
  onFailure?: (error: unknown) => void,
): Promise<LoadedBookings> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats?.isFile()) throw new SourceError('missing', `there is no file ${path}`);
  const module = await importFile(path).catch((error: unknown) => {
    if (error instanceof SourceError) throw error;
    const fault = explainFault(error, path);
    if (fault === undefined) onFailure?.(error);
    throw createModuleError(`${path} can't be loaded: ${fault ?? nameError(error).words}`, error);
  });
  const bookings = readExport(module);
  if (bookings === undefined) {
    throw new SourceError(
      'unreadable',
      `${path} exports no function bookings: it needs \`export async function* bookings(day, { signal })\``,
    );
  }
  return bookings;
}

/** CommonJS exports whose names Node can't detect are in `default`. */
function readExport(module: unknown): LoadedBookings | undefined {
  const { bookings, default: own } = { ...(module as { bookings?: unknown; default?: unknown }) };
  const found = bookings ?? (own as { bookings?: unknown } | null | undefined)?.bookings;
  return typeof found === 'function' ? (found as LoadedBookings) : undefined;
}

function importFile(path: string): Promise<unknown> {
  return /\.[cm]?ts$/.test(path) && !readsTypeScript()
    ? importTypeScript(path)
    : import(pathToFileURL(path).href);
}

/** Since 22.18 Node strips types by itself. */
function readsTypeScript(): boolean {
  return 'typescript' in process.features && Boolean(process.features.typescript);
}

async function importTypeScript(path: string): Promise<unknown> {
  const { createJiti } = await import('jiti');
  return createJiti(import.meta.url, { fsCache: false }).import(path);
}

/**
 * Says what is wrong with the code, in Node's own words: before a booking is read, they can't quote one. Undefined for an
 * error that the code itself threw.
 */
function explainFault(error: unknown, path: string): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // The type stripper puts the position into its message.
  if (error.message.startsWith('ParseError: ')) return error.message.replace(/\s+/g, ' ');
  const isOfNode = error instanceof SyntaxError || /^ERR_/.test(codeOf(error) ?? '');
  if (!isOfNode) return undefined;
  if (!(error instanceof SyntaxError)) return error.message;
  const [, line] = /^((?:file:\/\/)?\/.*:\d+)\n/.exec(error.stack ?? '') ?? [];
  return `${error.message} (${line ?? `\`node --check ${path}\` shows where`})`;
}

/**
 * Creates the error for something that a user's module threw. It keeps the original stack but not the original message,
 * which may quote a booking: errors are logged in many places.
 */
export function createModuleError(message: string, thrown: unknown): SourceError {
  const error = new SourceError('unreadable', message);
  const frames = thrown instanceof Error ? listFrames(thrown) : [];
  if (frames.length > 0)
    error.stack = [`SourceError: ${message}`, ...frames.map((frame) => `    ${frame}`)].join('\n');
  return error;
}

/** The parts of a foreign error that are safe to show: its class and its code; in `words` also where it was thrown. */
export function nameError(error: unknown): { readonly name: string; readonly words: string } {
  if (!(error instanceof Error)) {
    const name = `a ${typeof error} that is not an Error`;
    return { name, words: name };
  }
  const code = codeOf(error) ?? '';
  // An error's name can be any text.
  const parts = [/^\w{1,60}$/.test(error.name) ? error.name : 'Error', /^\w+$/.test(code) ? code : ''];
  const name = parts.filter(Boolean).join(' ');
  const frames = listFrames(error);
  const frame = frames.find((one) => !/node:|<anonymous>|node_modules/.test(one)) ?? frames[0] ?? '';
  return { name, words: `${name} ${frame}`.trim() };
}

/** The frames of an error's stack, without its message, which may quote a booking. */
function listFrames(error: Error): readonly string[] {
  return (error.stack ?? '')
    .replace(error.message, () => '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '));
}

/** A chain of causes may be circular. */
const causesShown = 5;

/**
 * Describes an error of a user's module with its stack. Its message may quote a booking, so it is shown, together with its
 * causes, only on request.
 */
export function describeModuleFailure(
  error: unknown,
  { path, showsMessage }: { readonly path: string; readonly showsMessage: boolean },
): string {
  const lines = [`${path} threw ${describe(error, showsMessage)}`];
  let cause = error instanceof Error ? error.cause : undefined;
  for (let shown = 0; showsMessage && cause !== undefined && shown < causesShown; shown += 1) {
    lines.push(`  caused by ${describe(cause, showsMessage)}`);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines.join('\n');
}

function describe(error: unknown, showsMessage: boolean): string {
  const { name } = nameError(error);
  if (!(error instanceof Error)) return name;
  const text = showsMessage ? `${name}: ${error.message}` : `${name} (--stack-trace shows its message)`;
  return [text, ...listFrames(error).map((frame) => `    ${frame}`)].join('\n');
}
