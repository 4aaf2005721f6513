import { chmodSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

/**
 * Puts what the commands load into a few files each, over what the compiler wrote of them: reading some thousand small
 * files is what starting a command takes its time for. Beside them lies everything as it was compiled.
 */
const commands = ['dist/jobs/hotel-review.js', 'dist/jobs/first-run.js'];
// Tests call the command as a function; the thread is started by its file's name.
const modules = ['dist/jobs/main.js', 'dist/jobs/reading-thread.js'];

// What was CommonJS asks for these by name. A file without such parts is spared the making of them.
const namesOfCommonJs = /\b(?:require|__filename|__dirname)\b/;
const ofCommonJs = `import { createRequire as createRequireOfBundle } from 'node:module';
import { dirname as dirnameOfBundle } from 'node:path';
import { fileURLToPath as fileOfBundle } from 'node:url';
const require = createRequireOfBundle(import.meta.url);
const __filename = fileOfBundle(import.meta.url);
const __dirname = dirnameOfBundle(__filename);`;

/**
 * Of undici a command needs the pool of connections. Its index would bring along fetch, WebSocket and caches: more than all
 * that the commands load otherwise.
 */
const poolOfUndici = {
  name: 'pool-of-undici',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: 'pool', namespace: 'undici' }));
    onLoad({ filter: /^pool$/, namespace: 'undici' }, () => ({
      contents: "export { default as Pool } from 'undici/lib/dispatcher/pool.js';",
      resolveDir: process.cwd(),
    }));
  },
};

const { outputFiles } = await build({
  entryPoints: [...commands, ...modules],
  outdir: 'dist/jobs',
  allowOverwrite: true,
  bundle: true,
  // What a command doesn't need stays in files that it doesn't open.
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // With native parts, which lie beside their own files.
  external: ['libsql', 'ssh2', 'pg-native'],
  plugins: [poolOfUndici],
  write: false,
  logLevel: 'warning',
});
for (const { path, text } of outputFiles) {
  const [firstLine = ''] = text.match(/^#!.*\n/) ?? [];
  const code = text.slice(firstLine.length);
  writeFileSync(path, namesOfCommonJs.test(code) ? `${firstLine}${ofCommonJs}\n${code}` : text);
}
for (const command of commands) chmodSync(command, 0o755);
