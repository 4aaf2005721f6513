// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { parse, service, source } from '../../config/writing.js';
import { findCall, isShell, pages, readBlocks, readLines } from './pages.js';

/** Blocks, and lines for a shell, that are neither settings nor a call of the command. */
const checkedByHand: readonly {
  readonly language: string;
  readonly text: RegExp;
  readonly checkedBy: string;
}[] = [
  { language: 'yaml', text: /^# prometheus\.yml/, checkedBy: 'test/project/docs/metrics.servers.test.ts' },
  { language: 'json', text: /"event": "day-late"/, checkedBy: 'test/project/docs/first-week.test.ts' },
  { language: 'js', text: /isGenuine/, checkedBy: 'test/project/docs/first-week.test.ts' },
  {
    language: 'js',
    text: /async function\* bookings/,
    checkedBy: 'test/project/library/bookings-module.test.ts',
  },
  { language: '', text: /^data\/archive\//, checkedBy: 'test/jobs/file-night.servers.test.ts' },
  { language: 'text', text: /^run 2026-11-19\n\{/, checkedBy: 'test/project/docs/json-samples.test.ts' },
  { language: 'mermaid', text: /^flowchart (?:TB|LR)/, checkedBy: 'src/layers.json' },
  { language: 'nginx', text: /proxy_set_header/, checkedBy: 'test/desk/access/own-address.test.ts' },
  { language: 'caddyfile', text: /reverse_proxy/, checkedBy: 'test/desk/server/allowed-hosts.test.ts' },
  {
    language: 'sh',
    text: /^(?:CRON_TZ=|MAILTO=|PATH=|30 2,4,6 )/,
    checkedBy: 'test/project/docs/first-week.test.ts',
  },
  {
    language: 'sh',
    text: /^(?:useradd|install|systemctl|journalctl|cp ops\/systemd|rm -r \/run)/,
    checkedBy: 'test/project/docs/systemd.servers.test.ts',
  },
  {
    language: 'sh',
    text: /^(?:docker compose |cp \.env|sh ops\/docker|mkdir -p exports|day=)/,
    checkedBy: 'test/project/docs/compose.test.ts',
  },
  { language: 'sh', text: /^kubectl /, checkedBy: 'test/project/docs/kubernetes.test.ts' },
  {
    language: 'sh',
    text: /^(?:umask|sqlite3|pg_dump|psql|pg_restore|ssh-keyscan|curl -i) ?/,
    checkedBy: 'test/project/docs/other-programs.servers.test.ts',
  },
  { language: 'sh', text: /^curl --(?:fail|cookie) /, checkedBy: 'test/desk/sign-in.test.ts' },
  {
    language: 'sh',
    text: /^(?:at=|signature=|curl --include )/,
    checkedBy: 'test/desk/server/hook-credentials.servers.test.ts',
  },
  { language: 'sh', text: /^redis-cli FLUSHALL/, checkedBy: 'test/many-machines/lost-queue.servers.test.ts' },
  { language: '', text: /bookings sent for review/, checkedBy: 'test/jobs/first-run.test.ts' },
  {
    language: 'sh',
    text: /^(?:(?:mkdir|npm install|ln -sfn) |node node_modules\/hotel-review\S+$)/,
    checkedBy: '.ci/package',
  },
  { language: 'sh', text: /^npm (?:ci|start) ?/, checkedBy: 'test/jobs/first-run.test.ts' },
  { language: 'sh', text: /^npm run bench/, checkedBy: 'bench/run.ts' },
];

const blocks = pages.flatMap(readBlocks);

/** Each line of the pages for a shell. */
const lines = blocks.flatMap(readLines);

describe('The blocks of the pages', () => {
  const shown = [
    ...blocks.filter(({ language }) => !isShell(language)),
    ...lines.filter((line) => findCall(line) === undefined).map((text) => ({ language: 'sh', text })),
  ];
  const findCheck = (block: { readonly language: string; readonly text: string }) =>
    checkedByHand.find(({ language, text }) => language === block.language && text.test(block.text));

  it('are settings, calls, or checked by a test that is there', () => {
    const unknown = shown.filter((block) => block.language !== 'yaml' && !findCheck(block));
    expect(unknown).toEqual([]);
    expect(new Set(shown.map(findCheck).filter(Boolean)).size).toBe(checkedByHand.length);
    for (const { checkedBy } of checkedByHand) expect(existsSync(checkedBy), checkedBy).toBe(true);
  });

  it('have settings that are valid, and hold no secret', () => {
    for (const block of shown
      .filter(({ language }) => language === 'yaml')
      .filter((one) => !findCheck(one))) {
      const { text } = block;
      const settings = {
        service,
        source,
        ...parseYaml(text.replaceAll(/\$\{file:[^}]*\}/g, '${FROM_FILE}')),
      };
      const { literalSecrets } = parse(settings, listVariables(JSON.stringify(settings)));
      const literal = literalSecrets.filter((name) => text.includes(name.split('.').at(-1) ?? ''));
      expect({ text, literal }).toEqual({ text, literal: [] });
    }
  });
});

/** A value of the right form for each variable that settings name. */
function listVariables(settings: string): Record<string, string> {
  const names = [...settings.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const makeUp = (name: string) => {
    if (/BOOKINGS_URL|LEDGER/.test(name)) return 'postgres://a:b@db.example.com/hotel?sslmode=verify-full';
    if (name.endsWith('_URL')) return 'https://hooks.example.com/1';
    return `whsec_${Buffer.from('thirty-two bytes of a secret key').toString('base64')}`;
  };
  return Object.fromEntries(names.map((name) => [name, makeUp(name)]));
}
