import { DecryptCommand, GenerateDataKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import type { ConnectionRules } from '../http/connection-rules.js';
import { createTunnelAgent } from '../http/tunnel.js';
import { isLoopback } from '../http/url.js';
import { KeyError } from './key-error.js';
import { type MasterKeeper, plainKeeper } from './master-key.js';

export interface KmsAccess extends ConnectionRules {
  /** The id, ARN or alias of a symmetric key. */
  readonly keyId: string;
  readonly region?: string | undefined;
  /** The address of a server that is not Amazon's. */
  readonly endpoint?: string | undefined;
}

const connectMs = 5_000;
const silenceMs = 10_000;
const tries = 3;
/** Servers that are not Amazon's take any region. */
const anyRegion = 'us-east-1';

/**
 * Master keys that AWS KMS encrypts: their files hold nothing that can be used without KMS. Each process asks it once. An
 * earlier master key in plain text stays readable until it is replaced.
 */
export function createKmsKeeper(access: KmsAccess): MasterKeeper {
  const { keyId } = access;
  const client = createClient(access);
  return {
    async create(id) {
      const made = await client
        .send(
          new GenerateDataKeyCommand({
            KeyId: keyId,
            KeySpec: 'AES_256',
            EncryptionContext: contextOf(id),
          }),
        )
        .catch(explain(`make a master key under ${keyId}`));
      const { Plaintext, CiphertextBlob } = made;
      if (!Plaintext || !CiphertextBlob) throw failed(`make a master key under ${keyId}`, 'no key came back');
      const key = Buffer.from(CiphertextBlob).toString('base64');
      return { secret: Buffer.from(Plaintext), stored: { kind: 'aws-kms', key } };
    },
    async open(id, stored) {
      if (stored.kind === 'plain') return plainKeeper.open(id, stored);
      const { Plaintext } = await client
        .send(
          new DecryptCommand({
            KeyId: keyId,
            CiphertextBlob: Buffer.from(stored.key, 'base64'),
            EncryptionContext: contextOf(id),
          }),
        )
        .catch(explain(`decrypt master key ${id} under ${keyId}`));
      if (!Plaintext) throw failed(`decrypt master key ${id} under ${keyId}`, 'no key came back');
      return Buffer.from(Plaintext);
    },
  };
}

/** KMS logs the context, and decrypts only under the same one. */
function contextOf(id: string): Record<string, string> {
  return { purpose: 'hotel-review', master: id };
}

function createClient({ endpoint, region, ...rules }: KmsAccess): KMSClient {
  const found = region ?? (endpoint === undefined ? undefined : anyRegion);
  const client = new KMSClient({
    ...(found !== undefined && { region: found }),
    ...(endpoint !== undefined && { endpoint }),
    retryMode: 'standard',
    maxAttempts: tries,
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: silenceMs,
      ...(rules.proxy?.url !== undefined && {
        httpsAgent: createTunnelAgent(rules, {
          connectTimeoutMs: connectMs,
          keepAlive: false,
          maxSockets: 2,
        }),
      }),
    },
  });
  // The environment or the profile may name a server, too.
  client.middlewareStack.add(
    (next) => async (call) => {
      const { protocol, hostname } = call.request as { readonly protocol: string; readonly hostname: string };
      if (protocol === 'http:' && !isLoopback(hostname))
        throw failed('call AWS KMS', 'plain http:// is allowed for this machine only');
      return next(call);
    },
    { step: 'build', name: 'refusePlainHttp' },
  );
  return client;
}

function explain(what: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof KeyError) throw error;
    // Messages of the SDK may quote what was sent.
    throw failed(what, error instanceof Error ? error.name : 'failed', error);
  };
}

function failed(what: string, why: string, cause?: unknown): KeyError {
  return new KeyError(
    'unusable',
    `AWS KMS could not ${what} (${why}): check keys.kms, the credentials, and that KMS can be reached`,
    { cause },
  );
}
