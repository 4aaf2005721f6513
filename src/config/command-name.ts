/** How this command was started, for words that tell what to do next: with `npx` it is on no search path. */
export const commandName = process.env.npm_command === 'exec' ? 'npx hotel-review' : 'hotel-review';
