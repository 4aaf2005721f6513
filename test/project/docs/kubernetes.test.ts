import { execFileSync } from 'node:child_process';
import { readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments, parse as parseYaml } from 'yaml';
import { exitCode } from '../../../jobs/exit-code.js';
import { loadConfig } from '../../../src/config/load.js';
import { projectFile } from '../../support/compose-file.js';
import { hookSecret } from '../../support/hook-secrets.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

const project = fileURLToPath(new URL('../../../', import.meta.url));
const kustomization = parseYaml(projectFile('ops/kubernetes/kustomization.yaml'));
const page = projectFile('docs/deploying.md');

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: its type depends on its kind
  readonly spec: any;
}

/** As Kubernetes reads them: in YAML 1.1, where 0440 is an octal number. */
function readManifests(text: string): Manifest[] {
  return parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS());
}

const manifests = (kustomization.resources as string[]).flatMap((file) =>
  readManifests(projectFile(`ops/kubernetes/${file}`)),
);
/** What `many-machines` adds to them. */
const added = (
  parseYaml(projectFile('ops/kubernetes/many-machines/kustomization.yaml')).resources as string[]
)
  .filter((name) => name !== '../')
  .flatMap((file) => readManifests(projectFile(`ops/kubernetes/many-machines/${file}`)));
const find = (kind: string) => {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
};
const cronJob = find('CronJob').spec;
const deployment = find('Deployment').spec;
const pods = [
  ['run', cronJob.jobTemplate.spec.template.spec],
  ['serve', deployment.template.spec],
  ['work', added.find(({ kind }) => kind === 'Deployment')?.spec.template.spec],
] as const;

/** The errors of the type checker, which knows the types of Kubernetes' API. */
function checkTypes(checked: readonly Manifest[]): string {
  const folder = makeTemporaryFolder();
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  const lines = checked.map((manifest, index) => {
    const { apiVersion, kind } = manifest;
    const group = { v1: 'core/v1' }[apiVersion] ?? apiVersion.replace('.k8s.io', '');
    return `import type { ${kind} as Type${index} } from 'kubernetes-types/${group}';
export const manifest${index}: Type${index} = ${JSON.stringify(manifest)};\n`;
  });
  writeFileSync(join(folder, 'manifests.ts'), lines.join(''));
  const types = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--pretty', 'false'];
  try {
    execFileSync(process.execPath, [join(types, 'bin/tsc'), ...options, join(folder, 'manifests.ts')], {
      cwd: folder,
    });
    return '';
  } catch (error) {
    return String((error as { readonly stdout: Buffer }).stdout);
  }
}

describe('ops/kubernetes', () => {
  it('has manifests that match the types of the API', () => {
    expect(manifests.map(({ kind }) => kind).sort()).toEqual([
      ...['CronJob', 'Deployment', 'Namespace', 'NetworkPolicy'],
      ...['PersistentVolumeClaim', 'PersistentVolumeClaim', 'Service'],
    ]);
    expect(added.map(({ kind }) => kind).sort()).toEqual([
      ...['Deployment', 'NetworkPolicy', 'Service', 'StatefulSet'],
    ]);
    expect(checkTypes([...manifests, ...added])).toBe('');
  });

  it('adds nothing but the queue to the configuration of many machines', () => {
    const [base, many] = ['', 'many-machines/'].map((folder) =>
      parseYaml(projectFile(`ops/kubernetes/${folder}hotel-review.yaml`)),
    );
    const address =
      /^redis:\/\/:\$\{file:\/run\/secrets\/hotel-review\/redis-password\}@hotel-review-queue:6379$/;
    expect(many).toEqual({ ...base, queue: { url: expect.stringMatching(address), plaintext: 'allowed' } });
    const policy = added.find(({ kind }) => kind === 'NetworkPolicy')?.spec;
    const [{ values }] = policy.ingress[0].from[0].podSelector.matchExpressions;
    const labels = [
      cronJob.jobTemplate.spec,
      deployment,
      added.find(({ kind }) => kind === 'Deployment')?.spec,
    ];
    expect(labels.map(({ template }) => template.metadata.labels.app).sort()).toEqual([...values].sort());
  });

  it('lists each of its files once, and uses the image of this version', () => {
    const files = readdirSync(join(project, 'ops/kubernetes')).filter(
      (name) => name !== 'kustomization.yaml' && name !== 'many-machines',
    );
    const { resources, configMapGenerator, images } = kustomization;
    expect([...resources, ...configMapGenerator[0].files].sort()).toEqual(files.sort());
    expect(images).toEqual([
      expect.objectContaining({ newTag: JSON.parse(projectFile('package.json')).version }),
    ]);
    for (const [, { containers }] of pods) expect(containers[0].image).toBe(images[0].name);
  });

  it.each(pods)('confines the pod of %s as the standard `restricted` asks for, with limits', (_name, pod) => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(pod.containers).toEqual([
      expect.objectContaining({
        resources: expect.objectContaining({ limits: { memory: '1Gi' } }),
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      }),
    ]);
    // More than workers.stopSeconds.
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(20);
  });

  it('retries the run only after exit code 1, one at a time', () => {
    expect(cronJob.concurrencyPolicy).toBe('Forbid');
    const job = cronJob.jobTemplate.spec;
    expect(job.backoffLimit).toBeGreaterThan(0);
    expect(job.template.spec.restartPolicy).toBe('Never');
    const { usage, resultPending, busy, toBeAccepted } = exitCode;
    expect(job.podFailurePolicy.rules[0]).toEqual({
      action: 'FailJob',
      onExitCodes: {
        containerName: job.template.spec.containers[0].name,
        operator: 'In',
        values: [usage, resultPending, busy, toBeAccepted],
      },
    });
  });

  it.each(pods)(
    'mounts every path of the configuration in the pod of %s, and declares every volume',
    (_name, pod) => {
      const [{ args, volumeMounts }] = pod.containers;
      const mounts = volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
      const configuration = projectFile('ops/kubernetes/hotel-review.yaml');
      const paths = [...configuration.matchAll(/(?<=[\s"]|file:)\/[\w./{}-]+/g)].map(([path]) => path);
      expect(paths.length).toBeGreaterThan(7);
      for (const path of [...paths, args.at(-1)])
        expect(
          mounts.some((mount: string) => path.startsWith(`${mount}/`)),
          path,
        ).toBe(true);
      expect(pod.volumes.map(({ name }: { name: string }) => name).sort()).toEqual(
        volumeMounts.map(({ name }: { name: string }) => name).sort(),
      );
      const claims = manifests.filter(({ kind }) => kind === 'PersistentVolumeClaim');
      const claimed = pod.volumes.flatMap(
        ({ persistentVolumeClaim: claim }: { persistentVolumeClaim?: { claimName: string } }) =>
          claim?.claimName ?? [],
      );
      expect(claims.map(({ metadata }) => metadata.name).sort()).toEqual(claimed.sort());
      const secret = pod.volumes.find((volume: { secret?: unknown }) => volume.secret)?.secret;
      expect(secret).toEqual({ secretName: 'hotel-review', defaultMode: 0o440 });
    },
  );

  it('has a configuration that takes the secrets from files, which the page creates', async () => {
    const folder = makeTemporaryFolder();
    const secrets: Readonly<Record<string, string>> = {
      'api-key': 'k-1',
      'account-id': 'acme',
      ledger: 'postgres://review:5f1c@db.example.com/review?sslmode=verify-full',
      'hook-secret': hookSecret,
      'hash-key': 'b9c2f1d4e5a60718',
    };
    for (const [name, value] of Object.entries(secrets)) writeFileSync(join(folder, name), `${value}\n`);
    const file = join(folder, 'hotel-review.yaml');
    writeFileSync(
      file,
      projectFile('ops/kubernetes/hotel-review.yaml').replaceAll('/run/secrets/hotel-review', folder),
    );
    expect(await loadConfig({ file, env: {} })).toMatchObject({
      service: { apiKey: 'k-1', accountId: 'acme' },
      ledger: { kind: 'postgres', url: secrets.ledger },
      hook: { secret: hookSecret },
      literalSecrets: [],
    });
    const created = [...page.matchAll(/--from-file=([\w-]+)/g)].map(([, name]) => name);
    expect(created.sort()).toEqual(Object.keys(secrets).sort());
  });
});
