import type { Config } from '../config/load.js';

/** Stands where a secret or a name goes; it is taken by the configuration's check, and refused by every service. */
export const unknownWord = 'change-me';
/** In the form of an address, and nobody's. */
export const unknownBaseUrl = 'https://service.example.com/api/3.0';
export const unknownHost = 'sftp.example.com';
/** In the form of a fingerprint, and that of no key. */
export const unknownHostKey = `SHA256:${'A'.repeat(43)}`;

/** Whether a written configuration has something to fill in: a comment of its own line says so. */
export function hasPlaceholders(text: string): boolean {
  return /^ *# PLACEHOLDER:/m.test(text);
}

/** The settings, as paths, that hold what `init` wrote where it was told nothing. */
export function listPlaceholders({ service, file: { sftp } }: Config): readonly string[] {
  const held: Readonly<Record<string, boolean>> = {
    'service.baseUrl': service.baseUrl === unknownBaseUrl,
    'service.apiKey': service.apiKey === unknownWord,
    'service.accountId': service.accountId === unknownWord,
    'file.sftp.host': sftp?.host === unknownHost,
    'file.sftp.username': sftp?.username === unknownWord,
    'file.sftp.password': sftp?.password === unknownWord,
    'file.sftp.hostKey': [sftp?.hostKey].flat().includes(unknownHostKey),
  };
  return Object.keys(held).filter((path) => held[path]);
}
