/** Who refuses our credentials, or is not the server it was. It is the subject of `credentials-refused`. */
export type RefusingPeer = 'service' | 'sftp' | 'source' | 'mailbox' | 'queue' | 'archive';

/** The codes of a server that refuses the account, or whose host key is not the pinned one. */
export const loginRefusals: readonly string[] = [
  'authentication-refused',
  'host-key-refused',
  'sftp-refused',
];

const codes: Readonly<Record<RefusingPeer, readonly string[]>> = {
  service: ['http-401', 'http-403', 'code-2003'],
  sftp: loginRefusals.map((code) => `sftp-${code}`),
  source: ['login-refused'],
  mailbox: ['mailbox-login-refused'],
  queue: ['queue-refused'],
  archive: ['archive-refused'],
};

/** Whose credentials a failure with this code, of a run or of `codeOfFailure`, is about; undefined if it is about none. */
export function findRefusingPeer(code: string): RefusingPeer | undefined {
  return (Object.keys(codes) as RefusingPeer[]).find((peer) => codes[peer].includes(code));
}

/** The servers that steps talk to, for messages. */
export interface Endpoints {
  /** Host and port. */
  readonly service: string;
  /** Host and port. */
  readonly sftp?: string | undefined;
}

/** Codes of failed connections, in the words of the service's client and, after `sftp-`, of the SFTP session. */
const networkCode =
  /^(sftp-)?(?:connection-(?:refused|reset|lost)|host-not-found|host-unreachable|dns-failed|(?:connect-)?timeout|tls-(?:certificate|protocol)|no-local-address|no-progress|network-error)$/;

/** Adds to the code of a failed connection which server it was; other codes stay as they are. */
export function describeCode(code: string, endpoints: Endpoints | undefined): string {
  const found = networkCode.exec(code);
  const server = found && (found[1] === undefined ? endpoints?.service : endpoints?.sftp);
  return server ? `${code} (${server})` : code;
}
