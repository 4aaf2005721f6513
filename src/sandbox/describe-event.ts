import type { ExportEvent } from './export/exports.js';
import type { FileReviewEvent } from './file-review/file-review.js';
import type { SandboxEvent } from './sandbox.js';
import type { CallEvent, ServiceEvent } from './service/service.js';
import type { SftpEvent } from './sftp/channel.js';

/** Describes an event in one line for people, without naming guests. */
export function describeEvent(event: SandboxEvent, now: number): string {
  return `${new Date(now).toISOString().slice(11, 19)}  ${describe(event)}`;
}

function describe(event: SandboxEvent): string {
  switch (event.part) {
    case 'service':
      return describeServiceEvent(event);
    case 'file-review':
      return describeFileReviewEvent(event);
    case 'export':
      return describeExportEvent(event);
    case 'sftp':
      return describeSftpEvent(event);
  }
}

function describeServiceEvent(event: ServiceEvent): string {
  switch (event.kind) {
    case 'turned-away':
      return `request rejected: ${event.httpStatus}`;
    case 'answered':
      return `${nameCall(event)}: ${event.httpStatus} ${event.statusCode}, ${describeOutcome(event)}`;
    case 'unanswered':
      return `${nameCall(event)}: no answer, ${describeOutcome(event)}`;
    case 'email-written':
      return `e-mail about ${event.incorrect} of call ${event.number}: ${event.email}`;
    case 'email-failed':
      return `no e-mail about ${event.incorrect} of call ${event.number}: ${event.reason}`;
    case 'failed':
      return `the sandbox failed: ${event.reason}`;
  }
}

function nameCall({ number, operation, fault }: CallEvent): string {
  return `call ${number} ${operation}${fault ? ` (${fault.kind})` : ''}`;
}

function describeOutcome(event: CallEvent): string {
  switch (event.operation) {
    case 'by-body':
    case 'by-file': {
      const wrong = event.incorrect > 0 ? `, ${event.incorrect} wrongly mapped` : '';
      return `${countOf(event.bookings, 'booking')} accepted${wrong}`;
    }
    case 'mappings':
      return `${countOf(event.mappings, 'mapping')} sent${event.isLastPage ? ', the last page' : ''}`;
    case 'brands':
      return `${countOf(event.brands, 'brand')} sent`;
    case 'export':
      return event.isAccepted ? 'export accepted' : 'export refused';
  }
}

function describeExportEvent(event: ExportEvent): string {
  const files = event.files.join(', ');
  switch (event.kind) {
    case 'export-written':
      return `${files}: written${nameEmail(event)}`;
    case 'export-partial':
      return `${files}: only the first halves (fault)${nameEmail(event)}`;
    case 'export-missing':
      return `${files}: never written (fault)`;
    case 'export-given-up':
      return `${files}: abandoned`;
    case 'export-failed':
      return `${files}: failed (${event.reason})`;
    case 'export-email-failed':
      return `${files}: no e-mail (${event.reason})`;
  }
}

function describeFileReviewEvent(event: FileReviewEvent): string {
  const rows = countOf(event.rows ?? 0, 'row');
  switch (event.kind) {
    case 'result-written':
      return `${event.path}: ${rows}, ${event.incorrect} wrongly mapped${nameEmail(event)}`;
    case 'result-partial':
      return `${event.path}: only ${event.written} of ${rows} (fault)${nameEmail(event)}`;
    case 'result-missing':
      return `${event.path}: never written (fault)`;
    case 'result-given-up':
      return `${event.path}: abandoned`;
    case 'result-failed':
      return `${event.path}: failed (${event.reason})`;
    case 'email-failed':
      return `${event.path}: no e-mail (${event.reason})`;
  }
}

function nameEmail({ email }: { readonly email?: string }): string {
  return email === undefined ? '' : `; e-mail: ${email}`;
}

function describeSftpEvent(event: SftpEvent): string {
  switch (event.kind) {
    case 'logged-in':
      return 'SFTP: logged in';
    case 'login-refused':
      return `SFTP: login refused (${event.reason})`;
    case 'received':
      return `SFTP: received ${event.path}, ${countOf(event.bytes, 'byte')}`;
    case 'removed':
      return `SFTP: removed ${event.path}`;
    case 'renamed':
      return `SFTP: renamed ${event.from} to ${event.to}`;
  }
}

function countOf(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}
