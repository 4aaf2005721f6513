import { execFileSync } from 'node:child_process';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkDotEnvValue, renderDotEnv } from '../../src/setup/render-dot-env.js';
import { answer, server } from './answering.js';

const secrets = { apiKey: undefined, accountId: undefined, sftpPassword: undefined };

describe('The file .env', () => {
  it('has a placeholder for each secret that is not known', () => {
    expect(parseEnv(renderDotEnv(answer()))).toEqual({
      HOTEL_REVIEW_API_KEY: 'change-me',
      HOTEL_REVIEW_ACCOUNT_ID: 'change-me',
    });
  });

  it('has the SFTP password where no key is used', () => {
    const byPassword = answer({ sftp: server, secrets: { ...secrets, sftpPassword: 'p # 1' } });
    expect(parseEnv(renderDotEnv(byPassword)).HOTEL_REVIEW_SFTP_PASSWORD).toBe('p # 1');
    const byKey = answer({ sftp: { ...server, keyFile: 'id_ed25519' } });
    expect(renderDotEnv(byKey)).not.toContain('SFTP');
  });

  it('gives every secret back as it was, or says beforehand that it has no way to write it', () => {
    const secret = fc.string({ minLength: 1, unit: fc.constantFrom(...'aZ0 \'"`#$\\n={}\né€\t!;&') });
    fc.assert(
      fc.property(secret, (apiKey) => {
        if (checkDotEnvValue(apiKey) !== undefined) {
          expect(apiKey).toMatch(/['"`\n]/);
          return;
        }
        const text = renderDotEnv(answer({ secrets: { ...secrets, apiKey } }));
        expect(parseEnv(text)).toMatchObject({
          HOTEL_REVIEW_API_KEY: apiKey,
          HOTEL_REVIEW_ACCOUNT_ID: 'change-me',
        });
      }),
      { numRuns: 2_000 },
    );
  });

  it('can be read by a shell as well', () => {
    const text = renderDotEnv(answer({ secrets: { ...secrets, apiKey: 'k $HOME `id` " #1' } }));
    const read = execFileSync('sh', ['-c', `${text}\nprintf %s "$HOTEL_REVIEW_API_KEY"`]);
    expect(read.toString()).toBe('k $HOME `id` " #1');
  });
});
