/** Quotes a text, such as a path, so that a shell reads it as one word. */
export function quoteForShell(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : quoteWord(text);
}

/** The same, also where that is not needed. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Writes a command as a person would type it: `run 2026-11-20` with the name of the program and the configuration. */
export type WriteCommand = (words: string) => string;

/** Completes the commands that a text names in backticks, such as `run 2026-11-20`, so that they can be copied. */
export function completeCommands(text: string, command: WriteCommand): string {
  return text.replace(/`((?:run|replay) [^`]*)`/g, (_, words: string) => `\`${command(words)}\``);
}

const usualConfig = 'hotel-review.yaml';

/**
 * @param name the name of the program
 * @param config the configuration file, as it was named
 */
export function createCommandWriter(name: string, config: string): WriteCommand {
  const option = config === usualConfig ? '' : ` --config ${quoteForShell(config)}`;
  return (words) => `${name} ${words}${option}`;
}
