import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Bundles what the commands load, over what the compiler wrote. Half of the time to start a command would be spent on
 * finding and opening files, so everything that commands have in common goes into a few groups.
 */
const folder = 'dist/jobs';
const commands = ['hotel-review', 'first-run'];

/**
 * Each group is a file with these modules and everything that they import, except for what an earlier group has. A command
 * loads the groups up to the one that it needs; what is imported on demand stays in files of its own.
 */
const groupsOfCommands = [
  // Loaded before the rest, so that a signal stops the command cleanly from its first moments.
  { name: 'process', test: /jobs\/process\.js$/ },
  { name: 'command', test: /jobs\/main\.js$/ },
  { name: 'settings', test: /config\/parse\.js$/ },
  { name: 'history', test: /jobs\/(?:show-status|show-booking|list-affected|list-rejected)\.js$/ },
  { name: 'review', test: /jobs\/review-day\.js$/ },
];

// CommonJS modules ask for these by name. The other files need not create them.
const namesOfCommonJs = /\b(?:__filename|__dirname)\b/;
const ofCommonJs = `import { dirname as dirnameOfBundle } from 'node:path';
import { fileURLToPath as fileOfBundle } from 'node:url';
const __filename = fileOfBundle(import.meta.url);
const __dirname = dirnameOfBundle(__filename);
`;

/** Commands need only undici's connection pool and what opens its connections. Its index would add fetch, WebSocket and caches: more than all the rest. */
const poolOfUndici = {
  name: 'pool-of-undici',
  resolveId(source, importer) {
    return source === 'undici' && !importer?.includes('node_modules') ? '\0pool' : null;
  },
  load(id) {
    const place = (name) => JSON.stringify(join(process.cwd(), 'node_modules/undici/lib', name));
    return id === '\0pool'
      ? `export { default as Pool } from ${place('dispatcher/pool.js')};
export { default as buildConnector } from ${place('core/connect.js')};`
      : null;
  },
};

/** @param groups in the order of their priority */
async function bundle(names, groups) {
  const built = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, join(folder, `${name}.js`)])),
    platform: 'node',
    // With native parts, which are next to their own files.
    external: ['libsql', 'ssh2', 'pg-native'],
    plugins: [poolOfUndici],
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
  ...(await bundle([...commands, 'main'], groupsOfCommands)),
  // Another thread shares no loaded code, and would load whole groups for a few of their modules.
  ...(await bundle(['reading-thread'], [{ name: 'reading', test: /jobs\/reading-thread\.js$/ }])),
];
for (const { fileName, code } of output) {
  writeFileSync(join(folder, fileName), namesOfCommonJs.test(code) ? ofCommonJs + code : code);
}
for (const name of commands) chmodSync(join(folder, `${name}.js`), 0o755);
