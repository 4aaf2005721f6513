import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv, stderr, stdout } from 'node:process';
import { parseArgs } from 'node:util';

/**
 * Lists the packages that the product is made of, as they are installed here: `sbom.cdx.json` in CycloneDX, and `licences.txt`
 * for people. Fails if a licence is not one of those below, which only require that their text is kept.
 *
 *   npm run sbom -- --out=DIR
 */
const allowed = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0'],
  ...['CC0-1.0', 'ISC', 'MIT', 'MIT-0', 'Unlicense'],
]);

/** @returns the packages of a CycloneDX document, each with its licence as an SPDX expression */
export function listLicences({ components }) {
  return components
    .map(({ name, version, licenses = [] }) => ({
      name: `${name}@${version}`,
      licence: licenses
        .map(({ license, expression }) => expression ?? license.id ?? license.name)
        .join(' AND '),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether one of the alternatives is allowed, or all licences that apply together. Anything else needs a person's decision. */
export function isAllowed(expression) {
  const inner = expression.replace(/^\(([^()]*)\)$/, '$1');
  return (
    inner.split(' OR ').some((licence) => allowed.has(licence)) ||
    inner.split(' AND ').every((licence) => allowed.has(licence))
  );
}

/** Without `--omit=dev`, which also leaves out packages that development shares with the product. */
function readPackages() {
  const text = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--loglevel=error'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const { serialNumber: _number, metadata, components, dependencies, ...about } = JSON.parse(text);
  // npm lists a version once, and may call it development though the product has it, too.
  const product = new Set(
    Object.entries(JSON.parse(readFileSync('package-lock.json', 'utf8')).packages)
      .filter(([, { dev }]) => dev !== true)
      .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`),
  );
  const isForDevelopment = ({ name, version }) => !product.has(`${name}@${version}`);
  const omitted = new Set(components.filter(isForDevelopment).map((component) => component['bom-ref']));
  // The output does not depend on when or in which folder it was made.
  const { timestamp: _time, component, ...tools } = metadata;
  const { name } = JSON.parse(readFileSync('package.json', 'utf8'));
  return {
    ...about,
    metadata: { ...tools, component: { ...component, name } },
    components: components.filter((one) => !omitted.has(one['bom-ref'])),
    dependencies: dependencies
      .filter(({ ref }) => !omitted.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => !omitted.has(one)) })),
  };
}

if (import.meta.filename === argv[1]) {
  const { out } = parseArgs({ options: { out: { type: 'string', default: 'sbom' } } }).values;
  const packages = readPackages();
  const licences = listLicences(packages);
  const lines = licences.map(({ name, licence }) => `${name}  ${licence || 'no licence'}\n`);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'sbom.cdx.json'), `${JSON.stringify(packages, null, 2)}\n`);
  writeFileSync(join(out, 'licences.txt'), lines.join(''));
  stdout.write(`${licences.length} packages: ${join(out, 'sbom.cdx.json')}, ${join(out, 'licences.txt')}\n`);
  const refused = lines.filter((_line, index) => !isAllowed(licences[index].licence));
  if (refused.length > 0) {
    stderr.write(`These licences are not allowed (ops/sbom.js):\n${refused.join('')}`);
    process.exitCode = 1;
  }
}
