/**
 * What happened on the sandbox's SFTP server. Paths are as the by-file call names them: from the root on, without a
 * leading slash. What a client gave as user name is not told: people type passwords there.
 */
export type SftpEvent =
  | { readonly kind: 'logged-in' }
  | { readonly kind: 'login-refused'; readonly reason: 'wrong-login' | 'no-password' }
  /** Written and closed without a fault; `bytes` is its size then. */
  | { readonly kind: 'received'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'removed'; readonly path: string }
  | { readonly kind: 'renamed'; readonly from: string; readonly to: string };
