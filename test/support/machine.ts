import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export interface SmallDisk {
  /** Makes room on the disk. */
  grow(): void;
}

/** What is missing here to mount a small disk. */
export const smallDiskNeeds = canMount() ? undefined : 'needs root and the right to mount a tmpfs';

/** Mounts a disk of this many kilobytes over that folder until the test ends. */
export function mountSmallDisk(folder: string, kilobytes: number, uid = 0, inodes?: number): SmallDisk {
  const files = inodes === undefined ? '' : `,nr_inodes=${inodes}`;
  mount(folder, `size=${kilobytes}k,mode=755,uid=${uid},gid=${uid}${files}`);
  // Lazily: a process may still have a file open there.
  onTestFinished(() => unmount(folder));
  return { grow: () => mount(folder, 'remount,size=128m') };
}

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  try {
    mount(folder, 'size=4k');
    unmount(folder);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(folder);
  }
}

function mount(folder: string, options: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
}

function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder]);
}

/** Root may access everything, so while the work runs, root becomes nobody. */
export async function withoutPrivileges<Result>(work: () => Promise<Result> | Result): Promise<Result> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

/** Debian installs it in the folder of the machine's architecture. */
const library = existsSync('/usr/lib')
  ? readdirSync('/usr/lib')
      .map((folder) => join('/usr/lib', folder, 'faketime', 'libfaketime.so.1'))
      .find((file) => existsSync(file))
  : undefined;

/** What is missing on this machine, and how to install it. */
export const fakeTimeNeeds =
  library === undefined ? 'needs libfaketime: apt-get install faketime' : undefined;

/**
 * The variables that make a process believe it started at this instant; from there its clock advances as usual.
 *
 * @param instant such as `2026-03-29T00:59:55Z`
 */
export function startingAt(instant: string): NodeJS.ProcessEnv {
  if (library === undefined) throw new Error(fakeTimeNeeds);
  const written = new Date(instant).toISOString().replace('T', ' ').slice(0, 19);
  return { LD_PRELOAD: library, FAKETIME: `@${written}`, TZ: 'UTC', FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

/** What is missing on this machine, and how to install it. */
export const certificateNeeds =
  spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0
    ? undefined
    : 'needs openssl: apt-get install openssl';

export interface CertificateFiles {
  /** In PEM. */
  readonly certificate: string;
  readonly key: string;
}

/**
 * Creates a self-signed certificate; its files are removed after the test.
 *
 * @param name as in a certificate's subjectAltName, for example `DNS:sandbox` or `IP:127.0.0.1`
 */
export function makeCertificate(name: string): CertificateFiles {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=sandbox', '-addext', `subjectAltName=${name}`];
  const out = ['-keyout', files.key, '-out', files.certificate];
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, ...out], { stdio: 'ignore' });
  return files;
}
