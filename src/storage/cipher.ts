import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
export const tagBytes = 16;
const nothing = Buffer.alloc(0);

interface Encryption {
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
export function decrypt(
  secret: Buffer,
  nonce: Buffer,
  sealed: Uint8Array,
  context: Uint8Array,
): Buffer | undefined {
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

/** Encrypts under a random nonce. Returns the heading, the nonce, and the encrypted bytes. */
export function seal(
  secret: Buffer,
  plain: Uint8Array,
  context: Uint8Array,
  heading: Uint8Array = nothing,
): Buffer {
  const nonce = randomBytes(nonceBytes);
  const start = heading.length + nonceBytes;
  const sealed = Buffer.allocUnsafe(start + plain.length + tagBytes);
  sealed.set(heading);
  sealed.set(nonce, heading.length);
  encryptTo(sealed, start, plain, { secret, nonce, context });
  return sealed;
}

/** Undefined if the bytes, the context or the key are not those of `seal`. */
export function open(secret: Buffer, sealed: Uint8Array, context: Uint8Array): Buffer | undefined {
  const nonce = Buffer.from(sealed.subarray(0, nonceBytes));
  return nonce.length < nonceBytes ? undefined : decrypt(secret, nonce, sealed.subarray(nonceBytes), context);
}
