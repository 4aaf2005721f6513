import cliProgress from 'cli-progress';
import { makeVisible } from '../text/visible.js';

interface BarOptions {
  readonly stream: NodeJS.WritableStream;
  /** With `{bar}`, `{percentage}` and the names of texts. */
  readonly format: string;
  readonly formatTime?: (seconds: unknown) => string;
}

/** A bar for one thing at a time. */
export function createBar(options: BarOptions): cliProgress.SingleBar {
  return new cliProgress.SingleBar(toBarOptions(options), cliProgress.Presets.shades_classic);
}

/** A bar for each of several things, removed when the last one ends. */
export function createBarGroup(options: BarOptions): cliProgress.MultiBar {
  // A bar that text above pushes down must be redrawn even if it is unchanged.
  const settings = { ...toBarOptions(options), clearOnComplete: true, forceRedraw: true };
  return new cliProgress.MultiBar(settings, cliProgress.Presets.shades_classic);
}

function toBarOptions({ format, ...options }: BarOptions): cliProgress.Options {
  return {
    ...options,
    // The texts of a bar may contain a name that a server chose.
    format: (settings, params, payload) =>
      makeVisible(cliProgress.Format.Formatter({ ...settings, format }, params, payload)),
    hideCursor: true,
    barsize: 24,
    linewrap: false,
    etaBuffer: 50,
  };
}
