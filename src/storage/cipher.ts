import { createCipheriv, createDecipheriv } from 'node:crypto';

const algorithm = 'aes-256-gcm';
export const nonceBytes = 12;
export const tagBytes = 16;

export interface Encryption {
  readonly secret: Buffer;
  /** Must never be reused under the same key. */
  readonly nonce: Buffer;
  readonly context: Uint8Array;
}

/** Encrypts with AES-256-GCM into the target at `at`: ciphertext, then tag. Returns where they end. */
export function encryptTo(
  target: Buffer,
  at: number,
  plain: Uint8Array,
  { secret, nonce, context }: Encryption,
): number {
  const cipher = createCipheriv(algorithm, secret, nonce);
  cipher.setAAD(context);
  target.set(cipher.update(plain), at);
  cipher.final();
  const end = at + plain.length;
  target.set(cipher.getAuthTag(), end);
  return end + tagBytes;
}

/** Undefined if the bytes, the context or the key are not the ones used to encrypt. */
export function decrypt(sealed: Uint8Array, { secret, nonce, context }: Encryption): Buffer | undefined {
  if (sealed.length < tagBytes) return undefined;
  const decipher = createDecipheriv(algorithm, secret, nonce);
  decipher.setAAD(context);
  const end = sealed.length - tagBytes;
  decipher.setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(0, end));
  try {
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}
