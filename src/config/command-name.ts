/** How this command is called, for words that tell what to do next: what npm started is on no search path. */
export const commandName = process.env.npm_command ? 'npx hotel-review' : 'hotel-review';
