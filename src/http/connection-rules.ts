/** How https connections leave this machine: HTTPS_PROXY and NO_PROXY. */
export interface ProxyRules {
  /** The proxy's address. */
  readonly url?: string | undefined;
  /** Hosts that are reached directly: names with all that ends with them, `host:port`, or `*`. */
  readonly direct?: readonly string[] | undefined;
}

/** How connections are made that are not like any other. */
export interface ConnectionRules {
  /** The file of the authority's certificate; only servers that it signed are then trusted. */
  readonly ca?: string | undefined;
  readonly proxy?: ProxyRules | undefined;
}
