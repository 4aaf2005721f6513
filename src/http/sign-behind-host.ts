/**
 * Whether an address has an @ behind its host: then a sign in its password that is not written with % has ended the host
 * early, and what follows is part of that password. No such address is shown.
 */
export function hasSignBehindHost(address: string): boolean {
  return /^[a-z0-9+.-]+:\/\/[^/?#]*[/?#].*@/is.test(address);
}
