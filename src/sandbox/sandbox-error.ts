/** The sandbox can't be run like this: a person has to mend something first. The message says what. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}
