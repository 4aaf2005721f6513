import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
export const tagBytes = 16;

/** Encrypts with AES-256-GCM: ciphertext and tag, in pieces. A nonce must not be used twice under a key. */
export function encrypt(
  secret: Buffer,
  nonce: Buffer,
  plain: Uint8Array,
  context: Uint8Array,
): readonly Buffer[] {
  const cipher = createCipheriv(algorithm, secret, nonce);
  cipher.setAAD(context);
  return [cipher.update(plain), cipher.final(), cipher.getAuthTag()];
}

/** Undefined where bytes, context or key are not those that were encrypted. */
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

/** Encrypts under a random nonce, which precedes the result. */
export function seal(secret: Buffer, plain: Uint8Array, context: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes);
  return Buffer.concat([nonce, ...encrypt(secret, nonce, plain, context)]);
}

/** Undefined where bytes, context or key are not those of `seal`. */
export function open(secret: Buffer, sealed: Uint8Array, context: Uint8Array): Buffer | undefined {
  const nonce = Buffer.from(sealed.subarray(0, nonceBytes));
  return nonce.length < nonceBytes ? undefined : decrypt(secret, nonce, sealed.subarray(nonceBytes), context);
}
