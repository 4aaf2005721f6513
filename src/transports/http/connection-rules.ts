/** How https connections leave this machine: HTTPS_PROXY and NO_PROXY. */
export interface ProxyRules {
  /** The proxy's address. */
  readonly url?: string | undefined;
  /** Hosts to reach directly: names, which include their subdomains, `host:port`, or `*`. */
  readonly direct?: readonly string[] | undefined;
}

/** Special rules for connections. */
export interface ConnectionRules {
  /** The CA certificate file; only servers whose certificates it signed are then trusted. */
  readonly ca?: string | undefined;
  readonly proxy?: ProxyRules | undefined;
}
