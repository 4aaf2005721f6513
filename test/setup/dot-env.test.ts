import { execFileSync } from 'node:child_process';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderSecrets } from '../../src/checks/setup/answers.js';
import { checkDotEnvValue } from '../../src/checks/setup/dot-env.js';
import type { AuthAnswers } from '../../src/sources/http/setup.js';
import { answer, type SourceAnswers, server } from './answering.js';

const account = { username: undefined, keyFile: undefined, hostKey: undefined };
const api = (auth: AuthAnswers): SourceAnswers => ({
  kind: 'http',
  url: undefined,
  auth,
  records: undefined,
  pagination: { kind: 'none' },
});

describe('The file .env', () => {
  it('has a placeholder for each unknown secret', () => {
    expect(parseEnv(renderSecrets(answer()))).toEqual({
      HOTEL_REVIEW_API_KEY: 'change-me',
      HOTEL_REVIEW_ACCOUNT_ID: 'change-me',
    });
  });

  it('has the SFTP password if no key is used', () => {
    const byPassword = answer({ sftp: server, secrets: { sftpPassword: 'p # 1' } });
    expect(parseEnv(renderSecrets(byPassword)).HOTEL_REVIEW_SFTP_PASSWORD).toBe('p # 1');
    const byKey = answer({ sftp: { ...server, keyFile: 'id_ed25519' } });
    expect(renderSecrets(byKey)).not.toContain('SFTP');
  });

  it.each<[SourceAnswers, Record<string, string>]>([
    [
      { kind: 'sql', query: undefined },
      {
        HOTEL_REVIEW_SOURCE_URL: 'postgres://reader:change-me@db.example.com:5432/hotel?sslmode=verify-full',
      },
    ],
    [api({ kind: 'none' }), {}],
    [api({ kind: 'bearer' }), { HOTEL_REVIEW_SOURCE_TOKEN: 'change-me' }],
    [api({ kind: 'header', name: 'X-Key' }), { HOTEL_REVIEW_SOURCE_KEY: 'change-me' }],
    [
      { kind: 'csv', path: 'sftp://h/{day}', account: account },
      { HOTEL_REVIEW_SOURCE_PASSWORD: 'change-me' },
    ],
    [{ kind: 'csv', path: 'sftp://h/{day}', account: { ...account, keyFile: 'id' } }, {}],
    [
      { kind: 'csv', path: 's3://abc/{day}', bucket: ['s3KeyId', 's3Secret'] },
      { AWS_ACCESS_KEY_ID: 'change-me', AWS_SECRET_ACCESS_KEY: 'change-me' },
    ],
    [{ kind: 'csv', path: 's3://abc/{day}', bucket: [] }, {}],
    [{ kind: 'module', path: 'b.mjs' }, {}],
  ])('has what the source %j needs', (source, needed) => {
    const { HOTEL_REVIEW_API_KEY, HOTEL_REVIEW_ACCOUNT_ID, ...others } = parseEnv(
      renderSecrets(answer({ source })),
    );
    expect(others).toEqual(needed);
  });

  it('returns every secret unchanged, or says beforehand that it cannot be written', () => {
    const secret = fc.string({ minLength: 1, unit: fc.constantFrom(...'aZ0 \'"`#$\\n={}\né€\t!;&') });
    fc.assert(
      fc.property(secret, (apiKey) => {
        if (checkDotEnvValue(apiKey) !== undefined) {
          expect(apiKey).toMatch(/['"`\n]/);
          return;
        }
        const text = renderSecrets(answer({ secrets: { apiKey } }));
        expect(parseEnv(text)).toMatchObject({
          HOTEL_REVIEW_API_KEY: apiKey,
          HOTEL_REVIEW_ACCOUNT_ID: 'change-me',
        });
      }),
      { numRuns: 2_000 },
    );
  });

  it('can be read by a shell, too', () => {
    const text = renderSecrets(answer({ secrets: { apiKey: 'k $HOME `id` " #1' } }));
    const read = execFileSync('sh', ['-c', `${text}\nprintf %s "$HOTEL_REVIEW_API_KEY"`]);
    expect(read.toString()).toBe('k $HOME `id` " #1');
  });
});
