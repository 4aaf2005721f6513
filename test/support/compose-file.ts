import { readFileSync } from 'node:fs';
import { parse as parseYaml } from 'yaml';

const folder = new URL('../../', import.meta.url);

/** A file of the project, by its path relative to the project's folder. */
export const projectFile = (path: string): string => readFileSync(new URL(path, folder), 'utf8');

/** An image by an exact tag, such as `postgres:16.15-bookworm`, and its digest where it is pinned. */
export const exactImage = /^[\w./-]+:(?:\d+\.\d+(?:\.\d+)?|\w+-\d{8})(?:-[a-z]+)*(?:@sha256:[0-9a-f]{64})?$/;

/** The parts of a docker-compose.yml service that the tests check. */
export interface ComposeService {
  readonly profiles?: readonly string[];
  readonly image: string;
  readonly build?: string | { readonly context: string; readonly target: string };
  readonly user?: string;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly networks?: readonly string[];
  readonly network_mode?: string;
  readonly secrets?: readonly string[];
  readonly hostname?: string;
  readonly working_dir?: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string; readonly required?: boolean }>>;
  readonly deploy?: { readonly replicas: number };
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
}

export interface ComposeFile {
  readonly services: Readonly<Record<ComposeServiceName, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
}

export type ComposeServiceName = 'serve' | 'work' | 'redis' | 'postgres' | 'sftp' | 'certificate' | 'sandbox';

/** docker-compose.yml with aliases and merges resolved. */
export function readComposeFile(): ComposeFile {
  return parseYaml(projectFile('docker-compose.yml'), { merge: true });
}

const variable = /\$\$|\$\{(?<name>\w+)(?::(?<kind>[-?])(?<rest>[^}]*))?\}/g;

/** The variables that docker-compose.yml takes from the environment. */
export function listVariables(): {
  readonly name: string;
  readonly kind: string | undefined;
  readonly rest: string | undefined;
}[] {
  return [...projectFile('docker-compose.yml').matchAll(variable)].flatMap(({ groups }) =>
    groups?.name === undefined ? [] : [{ name: groups.name, kind: groups.kind, rest: groups.rest }],
  );
}

/**
 * Interpolates variables as compose does.
 *
 * @throws Error for a required variable that is missing
 */
export function fillIn(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(variable, (written: string, ...found: unknown[]) => {
    if (written === '$$') return '$';
    const { name, kind, rest } = found.at(-1) as { name: string; kind?: string; rest?: string };
    const value = env[name];
    if (value !== undefined && value !== '') return value;
    if (kind !== '-') throw new Error(`docker-compose.yml needs ${name}`);
    return rest ?? '';
  });
}

/** The environment of a service's containers. */
export function environmentOf(
  service: ComposeServiceName,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const { environment = {} } = readComposeFile().services[service];
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, fillIn(value, env)]));
}
