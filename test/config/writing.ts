import { stringify } from 'yaml';
import { parseConfig } from '../../src/config/parse.js';
import { ConfigurationError } from '../../src/config/problems.js';
import type { Config } from '../../src/config/resolve.js';

type Tree = { readonly [name: string]: unknown };

export const service = { baseUrl: 'https://mapping.example.com/api/3.0', apiKey: 'k-1', accountId: 'acme' };
export const source = { kind: 'csv', path: 'bookings-{day}.csv' };
export const hostKey = `SHA256:${'a'.repeat(43)}`;
export const sftp = { host: 'sftp.example.com', username: 'acme', password: 'p-1', hostKey };

/** A configuration with all required settings, extended or overridden by the given ones. */
export const writeSettings = (settings: Tree = {}) => stringify({ service, source, ...settings });

export function parse(settings: Tree = {}, env: NodeJS.ProcessEnv = {}): Config {
  return parseText(writeSettings(settings), env);
}

export function parseText(text: string, env: NodeJS.ProcessEnv = {}): Config {
  return parseConfig({ text, file: '/etc/agency/hotel-review.yaml', env });
}

/** The reported problems, one line each; empty if there are none. */
export const complain = (settings: Tree, env: NodeJS.ProcessEnv = {}) =>
  complainOf(() => parse(settings, env)).problems;

export const complainOfText = (text: string, env: NodeJS.ProcessEnv = {}) =>
  complainOf(() => parseText(text, env)).problems;

export function complainOf(attempt: () => unknown): { problems: string[]; message: string } {
  try {
    attempt();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return {
      problems: error.problems.map(({ path, message }) => `${path}: ${message}`),
      message: error.message,
    };
  }
  return { problems: [], message: '' };
}
