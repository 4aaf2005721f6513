import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCode } from '../../../jobs/exit-code.js';
import { loadConfig } from '../../../src/config/load.js';
import { projectFile } from '../../support/compose-file.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

const names = ['hotel-review.service', 'hotel-review.timer', 'hotel-review-work@.service'];
const service = projectFile('ops/systemd/hotel-review.service');
const section =
  projectFile('docs/deploying.md')
    .split(/^##+ /m)
    .find((text) => text.startsWith('systemd')) ?? '';
const analyzeNeeds =
  spawnSync('systemd-analyze', ['--version'], { stdio: 'ignore' }).status === 0
    ? undefined
    : 'needs systemd-analyze: apt-get install systemd';

function settingsOf(name: string): string[] {
  return [...service.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
}

/** The units, with this machine's Node. */
function placeUnits(change: (text: string) => string = (text) => text): string {
  const folder = makeTemporaryFolder();
  for (const name of names) {
    const text = projectFile(`ops/systemd/${name}`).replace('/usr/bin/node', process.execPath);
    writeFileSync(join(folder, name), change(text));
  }
  return folder;
}

function analyze(folder: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { cwd: folder, encoding: 'utf8' });
  return { status, text: `${stdout}${stderr}` };
}

describe('ops/systemd', () => {
  it('has units that systemd accepts without a warning', ({ skip }) => {
    skip(analyzeNeeds !== undefined, analyzeNeeds);
    const paths = names.map((name) => `./${name}`);
    expect(analyze(placeUnits(), 'verify', ...paths)).toEqual({ status: 0, text: '' });
    const misspelt = placeUnits((text) => text.replace('ProtectHome', 'ProtectHoem'));
    expect(analyze(misspelt, 'verify', ...paths).text).toMatch(/Unknown key .*'ProtectHoem'/);
  });

  it('lets the service do little: an exposure of 2 at most, out of 10', ({ skip }) => {
    skip(analyzeNeeds !== undefined, analyzeNeeds);
    const judge = (folder: string) =>
      analyze(folder, 'security', '--offline=true', '--threshold=20', './hotel-review.service').status;
    expect(judge(placeUnits())).toBe(0);
    expect(judge(placeUnits((text) => text.replace(/^(?:Protect|Restrict|SystemCall).*\n/gm, '')))).not.toBe(
      0,
    );
  });

  it('starts the command of the package, and does not count a busy day as a failure', () => {
    const [start = ''] = settingsOf('ExecStart');
    const { bin } = JSON.parse(projectFile('package.json'));
    expect(start).toBe(
      `/usr/bin/node /opt/booked-hotel-review/${bin['hotel-review']} run --config /etc/hotel-review/hotel-review.yaml`,
    );
    expect(settingsOf('SuccessExitStatus')).toEqual([String(exitCode.busy)]);
    expect(settingsOf('RestartPreventExitStatus')).toEqual([`${exitCode.usage} ${exitCode.toBeAccepted}`]);
    expect(section).toContain(start.split(' run ')[0]);
  });

  it('passes on the secrets that the documented configuration takes from files', async () => {
    const folder = makeTemporaryFolder();
    const passed = settingsOf('LoadCredential').map((value) => value.split(':')[0] ?? '');
    expect(passed).toEqual(['api-key', 'hash-key']);
    for (const name of passed) writeFileSync(join(folder, name), `the content of ${name}\n`);
    const sample = /```yaml\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
    const file = join(folder, 'hotel-review.yaml');
    writeFileSync(file, sample.replaceAll('/run/credentials/hotel-review.service', folder));
    const config = await loadConfig({ file, env: {} });
    expect(config).toMatchObject({
      service: { apiKey: 'the content of api-key' },
      hashKey: 'the content of hash-key',
      literalSecrets: [],
    });
    // The only place that the service may write to.
    const state = `/var/lib/${settingsOf('StateDirectory')[0]}`;
    for (const path of [config.ledger, config.archive].map((place) => ('path' in place ? place.path : '')))
      expect(path.startsWith(`${state}/`)).toBe(true);
    expect(config.file.spool.startsWith(`${state}/`)).toBe(true);
  });
});
