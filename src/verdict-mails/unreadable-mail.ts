export type UnreadableReason =
  | 'too-large'
  | 'too-many-parts'
  | 'too-deep'
  | 'too-many-rows'
  | 'too-many-words'
  | 'no-text'
  | 'unreadable';

/** An e-mail that can't be read. Its message quotes nothing of it. */
export class UnreadableMailError extends Error {
  override readonly name = 'UnreadableMailError';
  readonly reason: UnreadableReason;

  constructor(reason: UnreadableReason) {
    super(`the e-mail can't be read: ${reason}`);
    this.reason = reason;
  }
}
