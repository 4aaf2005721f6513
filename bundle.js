import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { argv, env } from 'node:process';
import { rolldown } from 'rolldown';

/**
 * Bundles what the commands load. Otherwise half of a command's start-up time would be spent on finding and opening files, so
 * everything that commands have in common goes into a few groups. Nothing is minified: stack traces name our functions.
 */
const folder = 'dist/jobs';
/** For production: without the sandbox and what needs it. `jobs/program.ts` says so to anybody who calls it anyway. */
const withoutSandbox = argv.includes('--without-sandbox');
const commands = withoutSandbox ? ['hotel-review'] : ['hotel-review', 'processes/first-run'];

/**
 * Each group is a file with these modules and everything that they import, except for what an earlier group has. A command
 * loads the groups up to the one that it needs; modules that are imported on demand stay in files of their own.
 */
const groupsOfCommands = [
  // Loaded before the rest, so that a signal stops the command cleanly from its first moments.
  { name: 'process', test: /jobs\/process\.ts$/ },
  { name: 'command', test: /jobs\/main\.ts$/ },
  { name: 'settings', test: /config\/parse\.ts$/ },
  { name: 'history', test: /jobs\/commands\/(?:status|show|affected|rejected)\.ts$/ },
  { name: 'review', test: /jobs\/(?:commands\/run|review-day)\.ts$/ },
];

// CommonJS modules use these names. The other files need not define them.
const namesOfCommonJs = /\b(?:__filename|__dirname)\b/;
const ofCommonJs = `import { dirname as dirnameOfBundle } from 'node:path';
import { fileURLToPath as fileOfBundle } from 'node:url';
const __filename = fileOfBundle(import.meta.url);
const __dirname = dirnameOfBundle(__filename);
`;

/**
 * Loaded from their own folders: with native parts or a file that they look for, or large and needed by few. A bundle would hold most of them twice, for the
 * commands and for the thread that reads, and would not be loaded noticeably faster.
 */
const notBundled =
  /^(?:@aws-sdk\/|bullmq$|imapflow$|ioredis$|jiti$|libsql$|mysql2$|nodemailer$|pg-native$|ssh2$)/;

/**
 * What `--version` says about the build: the commit and its date, never the time of the build, so that the same source gives the same
 * files. An image is built without git, and is told with BUILT_FROM.
 */
function describeSource() {
  if (env.BUILT_FROM) return env.BUILT_FROM;
  const git = (...words) =>
    execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    // A folder below another project's checkout would tell that one's commit.
    if (git('rev-parse', '--show-prefix') !== '') throw new Error('this is no checkout of its own');
    const changes = git('status', '--porcelain') === '' ? '' : ', with changes';
    return `${git('log', '-1', '--abbrev=8', '--format=%h, %cs')}${changes}`;
  } catch {
    return 'built without git: the commit is unknown';
  }
}

/** @param groups in the order of their priority */
async function bundleJobs(names, groups) {
  const external = (id, importer) =>
    notBundled.test(id) ||
    (withoutSandbox && importer?.includes('/jobs/') && id.endsWith('/commands/sandbox.js'));
  const built = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, `jobs/${name}.ts`])),
    platform: 'node',
    external,
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    transform: { define: { builtFrom: JSON.stringify(describeSource()) } },
  });
  const { output } = await built.generate({
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: { groups: groups.map((group, index) => ({ ...group, priority: groups.length - index })) },
  });
  await built.close();
  return output;
}

const output = [
  // Tests call `main` as a function.
  ...(await bundleJobs([...commands, 'main'], groupsOfCommands)),
  // Another thread or process shares no loaded code, and would load whole groups for a few of their modules.
  ...(await bundleJobs(
    ['processes/reading-thread'],
    [{ name: 'reading', test: /processes\/reading-thread\.ts$/ }],
  )),
  ...(await bundleJobs(['processes/mail-reader'], [{ name: 'mails', test: /processes\/mail-reader\.ts$/ }])),
];
mkdirSync(join(folder, 'processes'), { recursive: true });
for (const { fileName, code } of output)
  writeFileSync(join(folder, fileName), namesOfCommonJs.test(code) ? ofCommonJs + code : code);

/** The packages of which something is in these files, and those that they load from their own folders. */
function listPackages(files) {
  const folders = files
    .flatMap(({ moduleIds }) => moduleIds)
    .map((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0])
    .filter((folder) => folder !== undefined);
  const names = new Set(files.map(({ fileName }) => fileName));
  const outside = files
    .flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
    .filter((id) => !names.has(id) && !isBuiltin(id));
  return { bundled: [...new Set(folders)].sort(), outside: [...new Set(outside)].sort() };
}

/** The licence of each package of which something is in the bundle: their authors ask for that. */
function renderLicences(folders) {
  const texts = folders.map((folder) => {
    const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder).filter((file) =>
      /^(?:licen[cs]e|copying|notice)(?:[-.]|$)/i.test(file),
    );
    const by = typeof author === 'object' ? author.name : author;
    const found = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
    // A few packages only name their licence.
    const said = found.length > 0 ? found : [`Licence: ${license}${by === undefined ? '' : `, by ${by}`}`];
    return { title: `${name} ${version} (${license})`, text: said.join('\n\n') };
  });
  const line = '-'.repeat(80);
  const parts = texts
    .sort((a, b) => (a.title < b.title ? -1 : 1))
    .map(({ title, text }) => `${line}\n${title}\n\n${text}\n`);
  return `hotel-review contains parts of these packages.\n\n${[...new Set(parts)].join('\n')}`;
}

const packages = listPackages(output);
writeFileSync('dist/THIRD-PARTY-LICENSES', renderLicences(packages.bundled));
// Which packages an installation needs besides the bundle: ops/pack.js.
writeFileSync('dist/outside.json', `${JSON.stringify(packages.outside, null, 2)}\n`);
// The pages' style sheet and script are served as they are.
cpSync('src/desk/assets', 'dist/src/desk/assets', { recursive: true });
for (const name of commands) chmodSync(join(folder, `${name}.js`), 0o755);
