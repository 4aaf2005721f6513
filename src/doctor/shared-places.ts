import type { Config } from '../config/load.js';
import { type Finding, findingsOf } from './finding.js';

/** Workers on several machines share a queue; what lies on this machine alone, the others can't see. */
export function checkSharedPlaces({ queue, ledger, archive }: Config): readonly Finding[] {
  if (queue.kind === 'in-process') return [];
  const findings: Finding[] = [];
  if (ledger.kind === 'sqlite') {
    findings.push(
      findingsOf('ledger').warning(
        'it is a file, and the queue is on Redis: workers on other machines do not reach it',
        'Keep all workers on this machine, or set ledger to postgres://…',
      ),
    );
  }
  if (archive.kind === 'directory') {
    findings.push(
      findingsOf('archive').warning(
        `${archive.path} is a folder of one machine, and any worker may archive: the evidence of file runs would be spread over them`,
        'Put it on a file system that all workers share, or keep them on one machine.',
      ),
    );
  }
  return findings;
}
