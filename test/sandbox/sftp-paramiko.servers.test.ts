import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProgram, knownHostsLine, type ServedSftp, serveSftp } from './served-sftp.js';

/** A Python that has paramiko. */
const python = ['python3', findProgram('/usr/bin/python3') ?? 'python3'].find((name) => {
  try {
    execFileSync(name, ['-c', 'import paramiko'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});
const needs = python === undefined ? ' (needs python3 with paramiko: apt-get install python3-paramiko)' : '';

/** Connects, runs the given actions and prints `answers`. */
const program = `
import io, json, sys, paramiko
order = json.loads(sys.argv[1])
client = paramiko.SSHClient()
client.load_host_keys('known_hosts')
client.connect(order['host'], port=order['port'], username=order['username'], password=order['password'],
               look_for_keys=False, allow_agent=False)
sftp = client.open_sftp()
answers = {}
def attempt(name, action):
    try:
        answers[name] = action()
    except IOError as error:
        answers[name] = 'error %s' % (error.errno or error)
exec(order['actions'])
client.close()
print(json.dumps(answers))
`;

describe.skipIf(needs !== '')(`paramiko at the sandbox's SFTP server${needs}`, () => {
  let sftp: ServedSftp;
  beforeEach(async () => {
    sftp = await serveSftp();
    writeFileSync(join(sftp.folder, 'known_hosts'), knownHostsLine(sftp));
  });
  afterEach(() => sftp.stop());

  async function run(actions: string, login = sftp.login): Promise<Record<string, unknown>> {
    const { host, port } = sftp.server;
    const order = JSON.stringify({ host, port, ...login, actions });
    const { stdout } = await promisify(execFile)(python ?? '', ['-c', program, order], { cwd: sftp.folder });
    return JSON.parse(stdout);
  }

  it('creates folders, puts, lists, gets, renames and removes', async () => {
    const answers = await run(`
content = bytes(range(256)) * 8000
sftp.mkdir('/VerifyMappings')
sftp.chdir('VerifyMappings')
answers['cwd'] = sftp.getcwd()
answers['put'] = sftp.putfo(io.BytesIO(content), 'día 1.tmp').st_size
sftp.rename('día 1.tmp', '20112026.csv')
answers['line'] = str(sftp.listdir_attr('.')[0])
back = io.BytesIO()
answers['got'] = sftp.getfo('20112026.csv', back)
answers['equal'] = back.getvalue() == content
sftp.remove('20112026.csv')
answers['left'] = sftp.listdir('.')
sftp.rmdir('/VerifyMappings')
answers['gone'] = sftp.listdir('/')
`);
    expect(answers).toEqual({
      cwd: '/VerifyMappings',
      put: 2_048_000,
      line: expect.stringMatching(/^-rw------- .* 2048000 .* 20112026\.csv$/),
      got: 2_048_000,
      equal: true,
      left: [],
      gone: [],
    });
    expect(sftp.told).toEqual([
      'SFTP: logged in',
      'SFTP: received VerifyMappings/día 1.tmp, 2048000 bytes',
      'SFTP: renamed VerifyMappings/día 1.tmp to VerifyMappings/20112026.csv',
      'SFTP: removed VerifyMappings/20112026.csv',
      'SFTP: removed VerifyMappings',
    ]);
  });

  it('does not replace a file by a rename', async () => {
    writeFileSync(sftp.disk('x'), 'new');
    writeFileSync(sftp.disk('y'), 'old');
    const answers = await run(`
attempt('plain', lambda: sftp.rename('x', 'y'))
answers['kept'] = sftp.open('y').read().decode()
`);
    const taken = 'error The name is already in use';
    expect(answers).toEqual({ plain: taken, kept: 'old' });
    expect(readdirSync(sftp.disk(''))).toEqual(['x', 'y']);
  });

  it('opens, writes at offsets, appends, truncates, and changes times and mode', async () => {
    const answers = await run(`
with sftp.open('x', 'wx') as file:
    file.set_pipelined(True)
    for _ in range(100): file.write('0123456789')
with sftp.open('x', 'r+') as file:
    file.seek(3)
    file.write('XY')
    file.seek(0)
    answers['start'] = file.read(8).decode()
with sftp.open('x', 'a') as file:
    file.write('end')
answers['size'] = sftp.stat('x').st_size
attempt('exclusive', lambda: sftp.open('x', 'wx'))
sftp.truncate('x', 6)
sftp.utime('x', (1000, 2000))
sftp.chmod('x', 0o444)
stats = sftp.stat('x')
answers['stats'] = [stats.st_size, stats.st_atime, stats.st_mtime, oct(stats.st_mode)]
answers['content'] = sftp.open('x').read().decode()
`);
    expect(answers).toEqual({
      start: '012XY567',
      size: 1_003,
      exclusive: 'error Failure (EEXIST)',
      stats: [6, 1_000, 2_000, '0o100400'],
      content: '012XY5',
    });
    expect(statSync(sftp.disk('x')).mtimeMs).toBe(2_000_000);
  });

  it('stays inside the root', async () => {
    const answers = await run(`
answers['up'] = sftp.normalize('../../..')
attempt('read', lambda: sftp.open('../host_key').read().decode())
attempt('link', lambda: sftp.symlink('/etc/passwd', 'link'))
attempt('seen', lambda: sftp.listdir('..'))
`);
    expect(answers).toEqual({ up: '/', read: 'error 2', link: expect.stringMatching(/^error /), seen: [] });
  });

  it('cannot log in with a wrong password', async () => {
    const login = { ...sftp.login, password: 'wrong' };
    await expect(run('', login)).rejects.toThrow('AuthenticationException');
    expect(sftp.told).toEqual(['SFTP: login refused (wrong-login)']);
  });
});

/** Also tries the system's Python, where another one comes first on the path. */
