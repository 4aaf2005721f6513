import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
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
 * Loaded from their own folders: with native parts, or large and needed by few. A bundle would hold most of them twice, for the
 * commands and for the thread that reads, and would not be loaded noticeably faster.
 */
const notBundled = /^(?:@aws-sdk\/|bullmq$|imapflow$|ioredis$|libsql$|mysql2$|nodemailer$|pg-native$|ssh2$)/;

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
// The pages' style sheet and script are served as they are.
cpSync('src/desk/assets', 'dist/src/desk/assets', { recursive: true });
for (const name of commands) chmodSync(join(folder, `${name}.js`), 0o755);
