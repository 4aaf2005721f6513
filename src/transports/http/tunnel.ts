import { type RequestOptions, request as requestPlain } from 'node:http';
import { Agent, type AgentOptions, request as requestTls } from 'node:https';
import { isIPv6, type Socket } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';

/** How https connections leave this machine: HTTPS_PROXY and NO_PROXY. */
export interface ProxyRules {
  /** The proxy's address. */
  readonly url?: string | undefined;
  /** Hosts to reach directly: names, which include their subdomains, `host:port`, or `*`. */
  readonly direct?: readonly string[] | undefined;
}

/** The proxy for a host; undefined if it is reached directly. */
export function chooseProxy(
  { url, direct = [] }: ProxyRules,
  { hostname, port }: { readonly hostname: string; readonly port: string | number },
): URL | undefined {
  const host = hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  const isDirect = direct.some((entry) => {
    if (entry === '*') return true;
    const [, name = entry, only] = /^(.*?):(\d+)$/.exec(/:.*:/.test(entry) ? '' : entry) ?? [];
    if (only !== undefined && only !== String(port)) return false;
    const suffix = name
      .toLowerCase()
      .replace(/^\*?\./, '')
      .replace(/^\[(.*)\]$/, '$1');
    return host === suffix || host.endsWith(`.${suffix}`);
  });
  return url === undefined || isDirect ? undefined : new URL(url);
}

/**
 * Opens a connection to a host and port through a proxy, for TLS to that host. Where it rejects, the request was not sent.
 *
 * @param limits how long the proxy may be silent, and what stops it
 */
function openTunnel(proxy: URL, target: string, limits: RequestOptions): Promise<Socket> {
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const isTls = proxy.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const call = (isTls ? requestTls : requestPlain)({
      host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: proxy.port || (isTls ? 443 : 80),
      method: 'CONNECT',
      path: target,
      headers: {
        host: target,
        ...(login !== ':' && { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
      },
      agent: false,
      ...limits,
    });
    const fail = (code: 'ERR_PROXY_UNREACHABLE' | 'ERR_PROXY_REFUSED') => {
      call.destroy();
      const message = `the proxy of HTTPS_PROXY did not open a connection (${code})`;
      reject(Object.assign(new Error(message), { code }));
    };
    call.once('connect', ({ statusCode }, socket) => {
      if (statusCode !== 200) {
        socket.destroy();
        return fail('ERR_PROXY_REFUSED');
      }
      socket.setTimeout(0);
      resolve(socket);
    });
    call.once('response', () => fail('ERR_PROXY_REFUSED'));
    call.once('timeout', () => fail('ERR_PROXY_UNREACHABLE'));
    call.on('error', () => fail('ERR_PROXY_UNREACHABLE'));
    call.end();
  });
}

/** For clients that take a Node agent. */
export function createTunnelAgent(
  { proxy = {} }: { readonly proxy?: ProxyRules | undefined },
  {
    connectTimeoutMs,
    signal,
    ...options
  }: AgentOptions & { readonly connectTimeoutMs: number; readonly signal?: AbortSignal },
): Agent {
  const agent = new Agent({ ...options, rejectUnauthorized: true });
  const connectDirectly = agent.createConnection.bind(agent);
  agent.createConnection = (call, done) => {
    const [hostname, port] = [call.host ?? 'localhost', call.port ?? 443];
    const through = chooseProxy(proxy, { hostname, port });
    if (through === undefined) return connectDirectly(call, done);
    const { host: _, path: __, ...tls } = call as ConnectionOptions;
    const target = `${isIPv6(hostname) ? `[${hostname}]` : hostname}:${port}`;
    openTunnel(through, target, { timeout: connectTimeoutMs, ...(signal && { signal }) }).then(
      (socket) => done?.(null, connect({ ...tls, socket, host: hostname })),
      (error: Error) => done?.(error, undefined as never),
    );
    return undefined;
  };
  return agent;
}
