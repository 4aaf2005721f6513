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
