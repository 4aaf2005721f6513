import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { stdout } from 'node:process';
import { parseArgs } from 'node:util';

/**
 * Makes the folder that is published from the build in `dist`: `npm publish package`. It holds what `files` in package.json lists, with
 * a package.json of its own: an installation gets the versions of the lock file, and only the packages that the bundle leaves outside.
 *
 *   npm run package -- --repository=https://git.example.org/acme/hotel-review
 */
const { repository, out } = parseArgs({
  options: { repository: { type: 'string' }, out: { type: 'string', default: 'package' } },
}).values;

/** Stands in package.json for the address of the project, until one is given. */
const placeholder = 'https://example.com/hotel-review';
const address = (repository ?? placeholder).replace(/\/$|\.git$/, '');

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
const { scripts: _, devDependencies: __, overrides: ___, files: ____, ...about } = readJson('package.json');

/** At the version of the lock file. @throws Error for a package that nothing declares */
function pin(name) {
  if (!(name in about.dependencies))
    throw new Error(`the bundle loads ${name}: put it into dependencies in package.json`);
  return [name, readJson('package-lock.json').packages[`node_modules/${name}`].version];
}

const manifest = {
  ...JSON.parse(JSON.stringify(about).replaceAll(placeholder, address)),
  dependencies: Object.fromEntries(readJson('dist/outside.json').map(pin)),
};

const listed = execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
});
const files = JSON.parse(listed)[0].files.map(({ path }) => path);
const isShipped = (path) => files.some((file) => file === path || file.startsWith(`${path}/`));

/** What the package does not hold is linked where the project is. */
function completeLinks(page) {
  return readFileSync(page, 'utf8').replaceAll(/\]\(([^)\s]+)\)/g, (link, target) => {
    const [path, anchor] = target.split('#');
    if (path === '' || /^[a-z]+:/.test(path)) return link;
    const file = posix.join(posix.dirname(page), path);
    if (isShipped(file)) return link;
    return `](${address}/blob/v${about.version}/${file}${anchor === undefined ? '' : `#${anchor}`})`;
  });
}

// What holds a repository is no package.
if (existsSync(join(out, '.git'))) throw new Error(`expected --out to be a folder of its own, got: ${out}`);
rmSync(out, { recursive: true, force: true });
for (const file of files) {
  // Beside the project's own licence, people look for those of others.
  const to = join(out, file.replace(/^dist\/(?=THIRD-PARTY-LICENSES$)/, ''));
  mkdirSync(dirname(to), { recursive: true });
  if (file === 'package.json') writeFileSync(to, `${JSON.stringify(manifest, null, 2)}\n`);
  else if (file.endsWith('.md')) writeFileSync(to, completeLinks(file));
  else cpSync(file, to);
}
stdout.write(`${about.name} ${about.version}, ${files.length} files: ${out}\n`);
if (repository === undefined)
  stdout.write(
    `Not to be published yet: its address is ${placeholder}. Give the real one with --repository=URL.\n`,
  );
