import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { patienceMs } from '../support/patience.js';
import { type ProgramResult, startProgram } from '../support/program.js';
import { type Addresses, reviewPath } from '../support/sandbox-command.js';
import { findProgram } from './served-sftp.js';

/** Clients other than this project that review a day by file. */
export interface OtherClients {
  readonly name: string;
  /** What is missing on this machine and how to install it. */
  readonly needs: string | undefined;
  /**
   * Creates the folders, uploads the file as the tests' day, calls the service and waits for the result.
   *
   * @param folder a temporary working folder
   * @returns the result's bytes
   * @throws Error with the client's error output
   */
  review(addresses: Addresses, file: Uint8Array, folder: string): Promise<Buffer>;
}

const resultPath = reviewPath.replace('.csv', '_Result.csv');
const callOf = ({ service }: Addresses) =>
  `${service.baseUrl}/hotels/ReviewMappingsOfBookedHotelsByFile?ftpFilePath=${reviewPath}`;

const sftp = findProgram('/usr/bin/sftp', '/usr/local/bin/sftp', '/opt/homebrew/bin/sftp');
const works = (program: string, ...args: string[]) => {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

export const openSshAndCurl: OtherClients = {
  name: "OpenSSH's sftp and curl",
  needs:
    sftp !== undefined && works('curl', '--version')
      ? undefined
      : 'sftp and curl: apt-get install openssh-client curl',

  async review(addresses, file, folder) {
    const { host, port, username, password, fingerprint } = addresses.sftp;
    const { apiKey, accountId } = addresses.service;
    const run = (program: string, args: readonly string[]): Promise<ProgramResult> => {
      const env = {
        PATH: process.env.PATH,
        PASSWORD: password,
        SSH_ASKPASS: join(folder, 'askpass'),
        SSH_ASKPASS_REQUIRE: 'force',
      };
      return startProgram(program, args, { cwd: folder, env }).ended;
    };
    /** Lines that start with a dash may fail. */
    const batch = (...lines: readonly string[]) => {
      writeFileSync(join(folder, 'batch'), `${lines.join('\n')}\n`);
      const options = [
        'UserKnownHostsFile=known_hosts',
        'GlobalKnownHostsFile=/dev/null',
        'StrictHostKeyChecking=accept-new',
        'NumberOfPasswordPrompts=1',
        // Batch mode forbids passwords; the first setting wins.
        'BatchMode=no',
      ].flatMap((option) => ['-o', option]);
      const where = ['-P', String(port), '-b', 'batch', `${username}@${host}`];
      return run(sftp ?? 'sftp', ['-F', 'none', ...options, ...where]);
    };

    writeFileSync(join(folder, 'askpass'), '#!/bin/sh\necho "$PASSWORD"\n', { mode: 0o700 });
    writeFileSync(join(folder, 'review.csv'), file);
    const folders = ['mkdir VerifyMappings', 'mkdir VerifyMappings/112026'];
    succeed(await batch(...folders, `put review.csv ${reviewPath}`));
    const keys = succeed(await run('ssh-keygen', ['-l', '-f', 'known_hosts']));
    if (!keys.includes(` ${fingerprint} `)) throw new Error(`expected ${fingerprint}, got ${keys}`);
    const headers = ['--header', `apikey: ${apiKey}`, '--header', `accountId: ${accountId}`];
    const quiet = ['--disable', '--noproxy', '*', '--silent', '--show-error', '--fail'];
    checkTaken(succeed(await run('curl', [...quiet, ...headers, callOf(addresses)])));
    const hasResult = async () => (await batch(`get ${resultPath} result.csv`)).exitCode === 0;
    await vi.waitUntil(hasResult, { timeout: patienceMs, interval: 50 });
    return readFileSync(join(folder, 'result.csv'));
  },
};

/** A Python that has paramiko. */
export const python = ['python3', findProgram('/usr/bin/python3') ?? 'python3'].find((program) =>
  works(program, '-c', 'import paramiko'),
);
const script = `
import base64, hashlib, json, sys, time, urllib.request, paramiko
order = json.loads(sys.argv[1])
server = order['sftp']
transport = paramiko.Transport((server['host'], server['port']))
transport.connect(username=server['username'], password=server['password'])
key = hashlib.sha256(transport.get_remote_server_key().asbytes()).digest()
assert 'SHA256:' + base64.b64encode(key).decode().rstrip('=') == server['fingerprint']
sftp = paramiko.SFTPClient.from_transport(transport)
sftp.mkdir('VerifyMappings')
sftp.mkdir('VerifyMappings/112026')
sftp.put('review.csv', order['path'])
headers = {'apikey': order['service']['apiKey'], 'accountId': order['service']['accountId']}
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
print(opener.open(urllib.request.Request(order['call'], headers=headers), timeout=30).read().decode())
ends = time.time() + 30
while True:
    try:
        sftp.get(order['result'], 'result.csv')
        break
    except FileNotFoundError:
        if time.time() > ends: raise
        time.sleep(0.05)
transport.close()
`;

export const pythonClients: OtherClients = {
  name: "Python's paramiko and urllib",
  needs: python === undefined ? 'python3 with paramiko: apt-get install python3-paramiko' : undefined,

  async review(addresses, file, folder) {
    writeFileSync(join(folder, 'review.csv'), file);
    const paths = { path: reviewPath, result: resultPath, call: callOf(addresses) };
    const args = ['-c', script, JSON.stringify({ ...addresses, ...paths })];
    const env = { PATH: process.env.PATH };
    checkTaken(succeed(await startProgram(python ?? 'python3', args, { cwd: folder, env }).ended));
    return readFileSync(join(folder, 'result.csv'));
  },
};

function succeed({ exitCode, stdout, stderr }: ProgramResult): string {
  if (exitCode !== 0) throw new Error(`it ended with ${exitCode}: ${stderr}`);
  return stdout;
}

function checkTaken(answer: string): void {
  const { Status, StatusCode } = JSON.parse(answer);
  if (Status !== true || StatusCode !== 2000) throw new Error(`the file was not taken: ${answer}`);
}
