/** A person, or the machine on its way down, asked the process to stop. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`);
  }
}
