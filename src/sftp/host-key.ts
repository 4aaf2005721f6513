import { createHash } from 'node:crypto';

/** The form in which `ssh-keygen -l` prints it; trailing `=` is optional. */
const fingerprintForm = /^SHA256:[A-Za-z0-9+/]{43}=?$/;

export interface PresentedKey {
  readonly fingerprint: string;
  /** `ssh-ed25519`, `ssh-rsa`, … */
  readonly type: string;
}

/** Which host keys are trusted. Without any, none is. */
export interface HostKeys {
  trust(key: PresentedKey): boolean;
}

/** @throws RangeError for something that is no SHA-256 fingerprint. */
export function pinHostKeys(fingerprints: readonly string[]): HostKeys {
  const pinned = new Set(
    fingerprints.map((fingerprint) => {
      if (!fingerprintForm.test(fingerprint)) {
        throw new RangeError(
          `not a host key's fingerprint: ${JSON.stringify(fingerprint)}; expected SHA256: and 43 characters of base64, as ssh-keygen -l prints it`,
        );
      }
      return fingerprint.replace(/=$/, '');
    }),
  );
  return { trust: ({ fingerprint }) => pinned.has(fingerprint) };
}

/** Reads a public key in SSH's wire form: a length, the type, the numbers. */
export function describeHostKey(key: Buffer): PresentedKey {
  const typeLength = key.length < 4 ? 0 : key.readUInt32BE(0);
  return {
    fingerprint: `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=$/, '')}`,
    type: key
      .subarray(4, 4 + Math.min(typeLength, 64))
      .toString('latin1')
      .replace(/[^\w@.-]/g, '?'),
  };
}
