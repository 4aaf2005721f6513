import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { SourceError } from '../../review/source.js';
import { createModuleError, nameError } from './errors.js';

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

/** The part of its API that is used here. */
interface Jiti {
  createJiti(
    from: string,
    options: { readonly fsCache: boolean },
  ): { import(path: string): Promise<unknown> };
}

// Not bundled: it loads its parser by path.
const jiti = 'jiti';

async function importTypeScript(path: string): Promise<unknown> {
  const { createJiti }: Jiti = await import(jiti);
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
  const isOfNode = error instanceof SyntaxError || /^ERR_/.test(nameError(error).code ?? '');
  if (!isOfNode) return undefined;
  if (!(error instanceof SyntaxError)) return error.message;
  const [, place] = /^((?:file:\/\/)?\/.*:\d+)\n/.exec(error.stack ?? '') ?? [];
  return `${error.message} (${place ?? `\`node --check ${path}\` shows where`})`;
}
