/** The command as a person types it: npm does not put its programs on the search path. */
export function commandNameIn(env: NodeJS.ProcessEnv): string {
  return env.npm_command ? 'npx hotel-review' : 'hotel-review';
}
