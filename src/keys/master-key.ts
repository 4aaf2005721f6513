import { randomBytes } from 'node:crypto';
import { KeyError } from './key-error.js';

/** A master key as its file holds it. */
export type StoredMaster =
  | { readonly kind: 'plain'; readonly key: string }
  /** Encrypted by AWS KMS. */
  | { readonly kind: 'aws-kms'; readonly key: string };

/** Creates master keys, and reads stored ones. */
export interface MasterKeeper {
  create(id: string): Promise<{ readonly secret: Buffer; readonly stored: StoredMaster }>;
  /** @throws KeyError `unusable` */
  open(id: string, stored: StoredMaster): Promise<Buffer>;
}

export const masterBytes = 32;

/** A master key in a file that only its owner can read. */
export const plainKeeper: MasterKeeper = {
  async create() {
    const secret = randomBytes(masterBytes);
    return { secret, stored: { kind: 'plain', key: secret.toString('base64') } };
  },
  async open(id, { kind, key }) {
    if (kind === 'plain') return Buffer.from(key, 'base64');
    throw new KeyError(
      'unusable',
      `master key ${id} is encrypted by AWS KMS: set keys.kms to the key's id or ARN in KMS`,
    );
  },
};
