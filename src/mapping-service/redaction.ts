/**
 * Makes the function that takes the caller's own credentials out of a text of the service: what echoes a call would
 * otherwise carry them into the ledger. (Design 10.)
 *
 * The key goes wherever it stands; the account's identifier, which may be a short number, only as a word of its own.
 */
export function createRedaction({
  apiKey,
  accountId,
}: {
  readonly apiKey: string;
  readonly accountId: string;
}): (text: string) => string {
  const account = accountId.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const accountAlone = new RegExp(`(?<![\\p{L}\\p{N}])${account}(?![\\p{L}\\p{N}])`, 'gu');
  return (text) => text.replaceAll(apiKey, '***').replace(accountAlone, '***');
}
