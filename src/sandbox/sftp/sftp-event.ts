/**
 * What happened on the sandbox's SFTP server. Paths are as in the by-file call: relative to the root, without a leading
 * slash. User names that clients sent are left out: people sometimes type passwords there.
 */
export type SftpEvent =
  | { readonly kind: 'logged-in' }
  | { readonly kind: 'login-refused'; readonly reason: 'wrong-login' | 'no-password' }
  /** Written and closed without errors; `bytes` is the final size. */
  | { readonly kind: 'received'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'removed'; readonly path: string }
  | { readonly kind: 'renamed'; readonly from: string; readonly to: string };
