/** A text, such as a path, as a shell takes it for one word. */
export function quoteForShell(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Writes a command as a person would type it here: `run --day 2026-11-20` with this program's name and configuration. */
export type WriteCommand = (words: string) => string;

const usualConfig = 'hotel-review.yaml';

/**
 * @param name how the program is called
 * @param config the configuration file, as it was named
 */
export function createCommandWriter(name: string, config: string): WriteCommand {
  const option = config === usualConfig ? '' : ` --config ${quoteForShell(config)}`;
  return (words) => `${name} ${words}${option}`;
}
