/** What a person is to do where a step of a file run failed for want of a disk; undefined for any other code. */
export function adviseOnDisk(code: string): string | undefined {
  switch (code) {
    case 'local-enospc':
    case 'local-edquot':
      return 'make room on the disk of file.spool';
    case 'sftp-local-file':
      return 'make room on the disk of file.spool, or mend the permissions of that folder';
    case 'archive-unwritable':
      return 'make room on the disk of the archive, or mend the permissions of its folder; of a bucket, `hotel-review doctor` says what it lacks';
    case 'sftp-disk-full':
      return 'have room made on the SFTP server';
    default:
      return code.startsWith('local-') ? 'mend the folder file.spool' : undefined;
  }
}
