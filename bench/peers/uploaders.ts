/** An upload by another program. */
export interface UploadJob {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly privateKeyFile: string;
  readonly knownHostsFile: string;
  /** The remote folder. */
  readonly root: string;
  /** The local file; it is uploaded as `day.part` and renamed to `day.csv`. */
  readonly file: string;
}

export interface Uploader {
  readonly name: string;
  readonly program: string;
  readonly debianPackage: string;
  command(job: UploadJob): readonly string[];
  /** Its standard input. */
  input(job: UploadJob): string;
  /** How it differs from the others. */
  readonly notes: readonly string[];
}

export type UploadPeer = 'open-ssh' | 'lftp' | 'rclone';

const cipher = 'aes128-gcm@openssh.com';

const sshOptions = ({ privateKeyFile, knownHostsFile }: UploadJob) => [
  ...['-c', cipher, '-i', privateKeyFile, '-o', `UserKnownHostsFile=${knownHostsFile}`],
];

export const uploadPeers: Readonly<Record<UploadPeer, Uploader>> = {
  'open-ssh': {
    name: "OpenSSH's sftp",
    program: 'sftp',
    debianPackage: 'openssh-client',
    command: (job) => [
      ...['sftp', '-q', '-b', '-', '-P', `${job.port}`, ...sshOptions(job)],
      `${job.username}@${job.host}`,
    ],
    input: ({ root, file }) => `cd ${root}\nput ${file} day.part\nls -ln day.part\nrename day.part day.csv\n`,
    notes: [],
  },
  lftp: {
    name: 'lftp',
    program: 'lftp',
    debianPackage: 'lftp',
    command: (job) => [
      'lftp',
      '-c',
      [
        'set cmd:fail-exit yes',
        `set sftp:connect-program "ssh -a -x ${sshOptions(job).join(' ')}"`,
        `open -u ${job.username}, -p ${job.port} sftp://${job.host}${job.root}`,
        `put ${job.file} -o day.part`,
        'cls -l day.part',
        'mv day.part day.csv',
      ].join('; '),
    ],
    input: () => '',
    notes: ['Without the ssh that lftp starts.'],
  },
  rclone: {
    name: 'rclone',
    program: 'rclone',
    debianPackage: 'rclone',
    // It has its own SSH implementation.
    command: (job) => [
      ...['rclone', '--config', '/dev/null', '--sftp-host', job.host, '--sftp-port', `${job.port}`],
      ...['--sftp-user', job.username, '--sftp-key-file', job.privateKeyFile],
      ...['--sftp-known-hosts-file', job.knownHostsFile],
      ...['--sftp-disable-hashcheck', 'copyto', job.file, `:sftp:${job.root}/day.csv`],
    ],
    input: () => '',
    notes: ['Same cipher, uploaded under the final name.'],
  },
};
